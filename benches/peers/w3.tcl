# W3, the multicast tree, in ns-2 at its best; README.md says what that means.
#
#   ns w3.tcl SECONDS SCHEDULER        e.g.  ns w3.tcl 100 Splay
#
# Prints one line of JSON. Every packet makes 556 hops, none is lost; those under way at the end are taken to have
# arrived. Receivers count nothing; that the tree is whole is seen from one receiver that counts.

source [file join [file dirname [info script]] ns2-common.tcl]

lassign $argv seconds scheduler
if {$scheduler eq ""} {
    puts stderr "usage: ns w3.tcl SECONDS SCHEDULER"
    exit 2
}

set PER_SECOND 125
set HOPS 556
set DRAIN 0.1                        ;# members join, and the tree is built, before the stream starts

remove-all-packet-headers
add-packet-header IP UDP RTP mcastCtrl
set ns [new Simulator]
$ns use-scheduler $scheduler
$ns multicast
DM set PruneTimeout 100000

set source [$ns node]
set root [$ns node]
duplex_link $source $root 100Mb 5ms $NEVER_DROPS
set leaves {}
for {set i 0} {$i < 5} {incr i} {
    set child [$ns node]
    duplex_link $root $child 100Mb 10ms $NEVER_DROPS
    for {set j 0} {$j < 10} {incr j} {
        set grandchild [$ns node]
        duplex_link $child $grandchild 100Mb 10ms $NEVER_DROPS
        for {set k 0} {$k < 10} {incr k} {
            set leaf [$ns node]
            duplex_link $grandchild $leaf 10Mb 5ms $NEVER_DROPS
            lappend leaves $leaf
        }
    }
}
$ns mrtproto DM {}

set group [Node allocaddr]
set udp [new Agent/UDP]
$ns attach-agent $source $udp
$udp set dst_addr_ $group
$udp set dst_port_ 0
set cbr [new Application/Traffic/CBR]
$cbr set packetSize_ 1000            ;# bytes on the wire: Agent/UDP adds none
$cbr set interval_ [expr {1.0 / $PER_SECOND}]
$cbr attach-agent $udp

set counter [new Agent/LossMonitor]
set n 0
foreach leaf $leaves {
    set sink [expr {$n == 0 ? $counter : [new Agent/Null]}]
    $ns attach-agent $leaf $sink
    $ns at 0.0 "$leaf join-group $sink $group"
    incr n
}
$ns at $DRAIN "$cbr start"

proc report {} {
    global counter seconds PER_SECOND HOPS DRAIN
    set sent [expr {round(($seconds - $DRAIN) * $PER_SECOND)}]
    set got [$counter set npkts_]
    if {abs($sent - $got) > 0.05 * $sent} {
        puts stderr "a receiver got $got of $sent packets"
        exit 1
    }
    print_result w3 {} [expr {$sent * $HOPS}] 0 $seconds
}

run $seconds
