# W2, the chain, in ns-2 at its best; README.md says what that means.
#
#   ns w2.tcl SECONDS SCHEDULER        e.g.  ns w2.tcl 60 Splay
#
# Prints one line of JSON. Hops, without a monitor on any link:
#   - a segment whose ACK came back made 12, and so did the ACK (nackpack_ counts one ACK for each
#     segment delivered; ACKs are never lost here);
#   - a segment dropped at the queue of link k = 0..9 made 1 + k;
#   - what TCP still has under way at the end is taken to be half way there and back: 12, under
#     0.1 % of the whole;
#   - a constant-rate packet made 3, or 1 if its link's queue dropped it. What was sent is the rate
#     times the time; the few under way at the end are taken to have arrived.

source [file join [file dirname [info script]] ns2-common.tcl]

lassign $argv seconds scheduler
if {$scheduler eq ""} {
    puts stderr "usage: ns w2.tcl SECONDS SCHEDULER"
    exit 2
}

set LINKS 10
set FLOWS 10
set CBR_PER_SECOND 6250
set TCP_FID 1
set CBR_FID 2

set ns [new_simulator $scheduler IP TCP Flags UDP RTP]
for {set k 0} {$k <= $LINKS} {incr k} {
    set router($k) [$ns node]
}
for {set k 0} {$k < $LINKS} {incr k} {
    set next $router([expr {$k + 1}])
    duplex_link $router($k) $next 100Mb 5ms 1300
    route_default $router($k) $next
    lassign [count_drops $router($k) $next [list $TCP_FID $CBR_FID]] tcp_drops($k) cbr_drops($k)
}

set tcps {}
for {set i 0} {$i < $FLOWS} {incr i} {
    set sender [new_host $router(0) 1ms]
    set receiver [new_host $router($LINKS) 1ms]
    for {set k 1} {$k <= $LINKS} {incr k} {
        route_via $router($k) $sender $router([expr {$k - 1}])
    }
    lappend tcps [new_greedy_flow $sender $receiver $TCP_FID [expr {0.1 * $i}]]
}

for {set k 0} {$k < $LINKS} {incr k} {
    set sender [new_host $router($k) 1ms]
    set receiver [new_host $router([expr {$k + 1}]) 1ms]
    set udp [new Agent/UDP]
    set null [new Agent/Null]
    $udp set fid_ $CBR_FID
    $ns attach-agent $sender $udp
    $ns attach-agent $receiver $null
    $ns connect $udp $null
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ 1000            ;# bytes on the wire: Agent/UDP adds none
    $cbr set interval_ [expr {1.0 / $CBR_PER_SECOND}]
    $cbr attach-agent $udp
    $ns at 0.0 "$cbr start"
}

proc report {} {
    global tcps tcp_drops cbr_drops LINKS CBR_PER_SECOND seconds
    set acks [total $tcps nackpack_]
    set hops [expr {24 * $acks}]
    set lost_segments 0
    set lost_cbr 0
    for {set k 0} {$k < $LINKS} {incr k} {
        set lost [total $tcp_drops($k) pdrops_]
        incr lost_segments $lost
        incr hops [expr {(1 + $k) * $lost}]
        incr lost_cbr [total $cbr_drops($k) pdrops_]
    }
    set under_way [expr {[total $tcps ndatapack_] - $acks - $lost_segments}]
    set cbr [expr {round($seconds * $CBR_PER_SECOND * $LINKS)}]
    incr hops [expr {12 * $under_way + 3 * ($cbr - $lost_cbr) + $lost_cbr}]
    print_result w2 $tcps $hops [expr {$lost_segments + $lost_cbr}] $seconds
}

run $seconds
