// CUBIC after one loss, in ns-3: the window of one greedy flow over a path with no other loss.
//
//   ns3-cubic > cubic-one-loss.csv
//   ns3-cubic --mbps=1000 --ssthresh=0 --lost=190 > cubic-slow-start.csv
//
// The path: two nodes and one point-to-point link.
//
//   sender --- 10 Mb/s, 50 ms each way --- receiver
//
//   - A data packet is 1000 bytes of payload, 20 of TCP, 20 of IP and 2 of PPP: 1042 bytes,
//     0.8336 ms at 10 Mb/s. A pure ACK is 42 bytes. No time stamps; SACK is on, so the ACKs during
//     recovery carry SACK blocks.
//   - Base round trip: 100 ms + 0.8336 ms + 0.0336 ms = 100.867 ms. The pipe holds 121 segments: up
//     to there the round trip is the base one, above it grows with the queue. At 1 Gb/s it is
//     100.009 ms, and the pipe holds 11 998 segments.
//   - Both device queues hold 10 000 packets: they never drop. No queue disc.
//   - The sender starts at t = 0 with a handshake; the first data leave at t = 0.1001 s.
//   - The receiver acknowledges each segment (no delayed ACKs). Both buffers are 64 MB.
//   - Initial window 10 segments, initial ssthresh 100 segments or none, minimum RTO 200 ms.
//   - One packet is lost: the first transmission of segment 600, counted from 0 (bytes 600 000 to
//     600 999 of the stream). It is discarded as it arrives at the receiver. It leaves in congestion
//     avoidance, when the window has stood at about 100 segments for several round trips. Without
//     a threshold segment 190 leaves in slow start, and its loss is found at a window of 200.
//
// CUBIC: C = 0.4, beta = 0.7, no HyStart, no fast convergence. CntClamp = 255, so that before the
// loss the window grows by at least one segment per 255 ACKs, not by one per 20 as the default has
// it. ns-3.37 has no Reno-friendly region. Recovery is PRR (RFC 6937).
//
// Standard output: a header, then a row for each change of the congestion window. Standard error:
// the changes of the congestion state.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <cstdint>
#include <cstdio>
#include <string>

using namespace ns3;

namespace
{

const uint32_t SEGMENT = 1000; // bytes
const uint16_t PORT = 5000;
// The receiver's device counts arriving packets from 0: the SYN, the handshake's ACK, segment 0.
const uint32_t FIRST_ARRIVAL = 2;

void
PrintWindow(uint32_t, uint32_t bytes)
{
    std::printf("%.6f,%.3f\n", Simulator::Now().GetSeconds(), double(bytes) / SEGMENT);
}

void
PrintState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state)
{
    std::fprintf(stderr,
                 "%.6f s: %s\n",
                 Simulator::Now().GetSeconds(),
                 TcpSocketState::TcpCongStateName[state]);
}

// The socket exists once the application has started.
void
Watch(Ptr<BulkSendApplication> source)
{
    auto socket = source->GetSocket();
    socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&PrintWindow));
    socket->TraceConnectWithoutContext("CongState", MakeCallback(&PrintState));
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t mbps = 10;
    uint32_t ssthresh = 100;
    uint32_t lost = 600;
    CommandLine cmd(__FILE__);
    cmd.AddValue("mbps", "rate of the link, Mb/s", mbps);
    cmd.AddValue("ssthresh", "initial slow-start threshold, segments; 0 for none", ssthresh);
    cmd.AddValue("lost", "the segment that is lost, from 0", lost);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpPrrRecovery"));
    Config::SetDefault("ns3::TcpCubic::C", DoubleValue(0.4));
    Config::SetDefault("ns3::TcpCubic::Beta", DoubleValue(0.7));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
    Config::SetDefault("ns3::TcpCubic::FastConvergence", BooleanValue(false));
    Config::SetDefault("ns3::TcpCubic::CntClamp", UintegerValue(255));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold",
                       UintegerValue(ssthresh == 0 ? UINT32_MAX : ssthresh * SEGMENT));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(64000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(64000000));

    NodeContainer nodes(2);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);

    PointToPointHelper link;
    link.DisableFlowControl();
    link.SetDeviceAttribute("DataRate", StringValue(std::to_string(mbps) + "Mbps"));
    link.SetChannelAttribute("Delay", StringValue("50ms"));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("10000p"));
    auto devices = link.Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    auto ends = addresses.Assign(devices);

    auto loss = CreateObject<ReceiveListErrorModel>();
    loss->SetList({FIRST_ARRIVAL + lost});
    devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(loss));

    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(ends.GetAddress(1), PORT));
    source.SetAttribute("SendSize", UintegerValue(1000000));
    auto sender = source.Install(nodes.Get(0));
    sender.Start(Seconds(0));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    sink.Install(nodes.Get(1)).Start(Seconds(0));
    Simulator::Schedule(TimeStep(1), &Watch, sender.Get(0)->GetObject<BulkSendApplication>());

    std::printf("time_s,cwnd_segments\n");
    Simulator::Stop(Seconds(12));
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
