# What w1.tcl and w2.tcl share: ns-2 at its best, TCP as the workloads define it, the count of lost
# packets, and the result line.

# CPU that this process has used so far, in nanoseconds (the first field of proc(5), schedstat).
proc cpu_ns {} {
    set file [open /proc/self/schedstat]
    gets $file line
    close $file
    return [lindex $line 0]
}

proc peak_rss_kb {} {
    set file [open /proc/self/status]
    set status [read $file]
    close $file
    regexp {VmHWM:\s+(\d+)} $status -> kb
    return $kb
}

# A simulator whose packets carry only the headers named, so that they are small. No traces.
proc new_simulator {scheduler args} {
    remove-all-packet-headers
    eval add-packet-header $args
    set ns [new Simulator]
    $ns use-scheduler $scheduler
    $ns rtproto Manual
    return $ns
}

Agent/TCP set packetSize_ 1000      ;# of payload; 40 bytes of headers are added on the wire
Agent/TCP set window_ 1000000       ;# segments: never the limit
Agent/TCP set windowInit_ 10
Agent/TCP set minrto_ 0.2
Agent/TCP set syn_ false            ;# data from the first packet on: no handshake
Agent/TCP set delay_growth_ false

set NEVER_DROPS 100000              ;# packets

proc duplex_link {x y rate delay limit} {
    Queue set limit_ $limit
    [Simulator instance] duplex-link $x $y $rate $delay DropTail
}

# Routes by hand. `to` is a neighbour; `via` is one, too.
proc route_default {node to} {
    [$node get-module Manual] add-route-to-adj-node -default $to
}
proc route_neighbour {node to} {
    [$node get-module Manual] add-route-to-adj-node $to
}
proc route_via {node host via} {
    set link [[Simulator instance] link $node $via]
    [$node get-module Manual] add-route [$host set address_] [$link head]
}

# A host of its own on a 1 Gb/s link to a router.
proc new_host {router delay} {
    global NEVER_DROPS
    set host [[Simulator instance] node]
    duplex_link $host $router 1Gb $delay $NEVER_DROPS
    route_default $host $router
    route_neighbour $router $host
    return $host
}

# A greedy flow from host to host; returns the sending agent.
proc new_greedy_flow {from to fid start} {
    set ns [Simulator instance]
    set tcp [new Agent/TCP/Sack1]
    set sink [new Agent/TCPSink/Sack1]
    $tcp set fid_ $fid
    $sink set fid_ $fid
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start "$ftp start"
    return $tcp
}

# Counts the packets that the queue from x to y drops, by flow id. Returns the monitors in the order
# of `fids`; read pdrops_ from them. Only a dropped packet comes here: the others pay nothing.
proc count_drops {x y fids} {
    set ns [Simulator instance]
    set by_flow [new Classifier/Hash/Fid [expr {2 * [llength $fids]}]]
    set monitors {}
    foreach fid $fids {
        set monitor [new QueueMonitor]
        set counter [new SnoopQueue/Drop]
        $counter set-monitor $monitor
        $counter target [$ns set nullAgent_]
        $by_flow set-hash auto 0 0 $fid [$by_flow installNext $counter]
        lappend monitors $monitor
    }
    [[$ns link $x $y] queue] drop-target $by_flow
    return $monitors
}

# The sum of a counter over a list of agents or monitors.
proc total {objects variable} {
    set sum 0
    foreach object $objects {
        incr sum [$object set $variable]
    }
    return $sum
}

# Runs for so many simulated seconds, then calls `report`, which ends by calling print_result.
# Set-up is the CPU from the start of the process to the first event.
proc run {seconds} {
    set ns [Simulator instance]
    $ns at 0.0 {set setup_ns [cpu_ns]}
    $ns at $seconds {set end_ns [cpu_ns]; report; exit 0}
    $ns run
}

proc print_result {workload tcps hops drops seconds} {
    global setup_ns end_ns
    puts [format {{"workload": "%s", "flows": %d, "hops": %d, "drops": %d, "goodput_mbps": %.3f,\
        "run_cpu_s": %.6f, "setup_s": %.6f, "peak_rss_kb": %d}} \
        $workload [llength $tcps] $hops $drops [expr {[total $tcps ack_] * 8e-3 / $seconds}] \
        [expr {($end_ns - $setup_ns) * 1e-9}] [expr {$setup_ns * 1e-9}] [peak_rss_kb]]
}
