# W1, the dumbbell, in ns-2 at its best; README.md says what that means.
#
#   ns w1.tcl FLOWS RATE_MBPS SECONDS SCHEDULER        e.g.  ns w1.tcl 10 100 600 Calendar
#
# Prints one line of JSON. Hops, without a monitor on any link:
#   - a segment whose ACK came back made 3, and so did the ACK (nackpack_ counts one ACK for each
#     segment delivered; ACKs are never lost here);
#   - a segment dropped at the bottleneck made 1 (counted where it is dropped);
#   - what is still under way at the end is taken to be half way there and back: 3. That is at most
#     one window's worth, under 0.2 % of the whole.

source [file join [file dirname [info script]] ns2-common.tcl]

lassign $argv flows rate_mbps seconds scheduler
if {$scheduler eq ""} {
    puts stderr "usage: ns w1.tcl FLOWS RATE_MBPS SECONDS SCHEDULER"
    exit 2
}

set ns [new_simulator $scheduler IP TCP Flags]
set a [$ns node]
set b [$ns node]
# One bandwidth-delay product at a round trip of 52 ms.
duplex_link $a $b ${rate_mbps}Mb 20ms [expr {round(6.25 * $rate_mbps)}]
route_default $a $b
route_default $b $a
set dropped [count_drops $a $b 1]

set tcps {}
for {set i 0} {$i < $flows} {incr i} {
    set delay [expr {1 + $i % 5}]ms
    set sender [new_host $a $delay]
    set receiver [new_host $b $delay]
    lappend tcps [new_greedy_flow $sender $receiver 1 [expr {double($i) / $flows}]]
}

proc report {} {
    global tcps dropped seconds
    set acks [total $tcps nackpack_]
    set drops [total $dropped pdrops_]
    set under_way [expr {[total $tcps ndatapack_] - $acks - $drops}]
    set hops [expr {6 * $acks + $drops + 3 * $under_way}]
    print_result w1 $tcps $hops $drops $seconds
}

run $seconds
