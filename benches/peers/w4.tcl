# W4, the constellation, in ns-2 at its best; README.md says what that means.
#
#   ns w4.tcl SECONDS SCHEDULER        e.g.  ns w4.tcl 1500 Splay
#
# Prints one line of JSON. Packet-hops are not counted while it runs, since a trace would take most of the time: how many there are in
# a second was counted once, in a run of 1500 s with a trace of all links (`grep -c ^r`).

source [file join [file dirname [info script]] ns2-common.tcl]

lassign $argv seconds scheduler
if {$scheduler eq ""} {
    puts stderr "usage: ns w4.tcl SECONDS SCHEDULER"
    exit 2
}

remove-all-packet-headers
add-packet-header IP TCP Flags LL Mac
set ns [new Simulator]
$ns use-scheduler $scheduler

HandoffManager/Term set elevation_mask_ 8.2
HandoffManager/Term set term_handoff_int_ 10
HandoffManager/Sat set sat_handoff_int_ 10
HandoffManager/Sat set latitude_threshold_ 60
HandoffManager set handoff_randomization_ false
SatRouteObject set metric_delay_ true
SatRouteObject set data_driven_computation_ false

set QUEUE 50
set HOPS_PER_SECOND [expr {8202860 / 1500.0}]
$ns node-config -satNodeType polar -llType LL/Sat -ifqType Queue/DropTail -ifqLen $QUEUE -macType Mac/Sat \
    -phyType Phy/Sat -channelType Channel/Sat -downlinkBW 1.5Mb -wiredRouting OFF

set PLANES 6
set PER_PLANE 11
for {set p 0} {$p < $PLANES} {incr p} {
    for {set k 0} {$k < $PER_PLANE} {incr k} {
        set moved [expr {$p % 2 ? 0.5 : 0.0}]
        set sat($p,$k) [$ns node]
        $sat($p,$k) set-position 780 86.4 [expr {31.6 * $p}] [expr {360.0 / $PER_PLANE * ($k + $moved)}] [expr {$p + 1}]
    }
}
for {set p 0} {$p < $PLANES} {incr p} {
    for {set k 0} {$k < $PER_PLANE} {incr k} {
        set before [expr {($k + $PER_PLANE - 1) % $PER_PLANE}]
        $sat($p,$k) set_next $sat($p,$before)
        $ns add-isl intraplane $sat($p,$k) $sat($p,[expr {($k + 1) % $PER_PLANE}]) 25Mb Queue/DropTail $QUEUE
        if {$p + 1 < $PLANES} {
            $ns add-isl interplane $sat($p,$k) $sat([expr {$p + 1}],$k) 25Mb Queue/DropTail $QUEUE
        }
    }
}

$ns node-config -satNodeType terminal
proc terminal {latitude longitude} {
    global ns sat QUEUE
    set node [$ns node]
    $node set-position $latitude $longitude
    $node add-gsl polar LL/Sat Queue/DropTail $QUEUE Mac/Sat 1.5Mb Phy/Sat [$sat(0,0) set downlink_] [$sat(0,0) set uplink_]
    return $node
}

# West and east of the United States, and the United States and Europe.
set PAIRS {
    {37.9 -122.3 42.3 -71.1} {34.1 -118.2 40.7 -74.0} {47.6 -122.3 38.9 -77.0} {41.9 -87.6 51.5 -0.1} {29.8 -95.4 48.9 2.4}
}
set tcps {}
foreach pair $PAIRS {
    lassign $pair north west south east
    set tcp [new_greedy_flow [terminal $north $west] [terminal $south $east] [llength $tcps] 0.0]
    lappend tcps $tcp
}
[new SatRouteObject] compute_routes

proc report {} {
    global tcps seconds HOPS_PER_SECOND
    print_result w4 $tcps [expr {round($HOPS_PER_SECOND * $seconds)}] 0 $seconds
}

run $seconds
