// The workloads W1 (dumbbell) and W2 (chain) in ns-3 at its best; README.md says what that means.
//
//   ns3-workloads --workload=w1 --flows=N --rate-mbps=100 --seconds=60
//   ns3-workloads --workload=w2 --seconds=60
//
// Prints one line of JSON. A hop is one packet sent on one link in one direction. Every device
// queue counts the packets that it took in, whether they waited or not, so
//
//   hops = sum over the devices of (packets taken in - packets still queued at the end),
//
// which is exact and costs the run nothing. It includes the three handshake packets of a flow.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

const uint32_t NEVER_DROPS = 100000; // packets
const uint16_t PORT = 5000;

double
CpuSeconds()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

long
PeakRssKb()
{
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line))
    {
        if (line.rfind("VmHWM:", 0) == 0)
        {
            return std::stol(line.substr(6));
        }
    }
    return 0;
}

// TCP as the workloads define it, and whatever ns-3 offers by attribute to run faster.
void
SetDefaults(const std::string& scheduler)
{
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(false));
    GlobalValue::Bind("SchedulerType", StringValue("ns3::" + scheduler + "Scheduler"));

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(64000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 30));

    // The application writes 1 MB at a time (payload is virtual), so a full send buffer is a few
    // packets. With writes of one segment N = 1000 takes 2.3 GB and twice the time per hop.
    Config::SetDefault("ns3::BulkSendApplication::SendSize", UintegerValue(1000000));

    // With the weak end-system model each arriving packet is compared with the addresses of all
    // 1001 interfaces of a dumbbell router.
    Config::SetDefault("ns3::Ipv4::WeakEsModel", BooleanValue(false));
}

// Point-to-point links between nodes that route by Ipv4GlobalRouting alone. The tables are filled
// by hand: the ones that PopulateRoutingTables makes hold a route to every link in every node, and
// are searched in order.
class Network
{
  public:
    Network()
    {
        m_stack.SetIpv6StackInstall(false);
        m_stack.SetRoutingHelper(Ipv4GlobalRoutingHelper());
        m_helper.DisableFlowControl(); // no queue disc in front of the device's own queue
        m_addresses.SetBase("10.0.0.0", "255.255.255.252");
    }

    Ptr<Node> AddNode()
    {
        auto node = CreateObject<Node>();
        m_stack.Install(node);
        return node;
    }

    // The addresses of the two ends, x first.
    Ipv4InterfaceContainer Link(Ptr<Node> x, Ptr<Node> y, uint32_t mbps, uint32_t ms, uint32_t queue)
    {
        m_helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(mbps) * 1000000)));
        m_helper.SetChannelAttribute("Delay", TimeValue(MilliSeconds(ms)));
        m_helper.SetQueue("ns3::DropTailQueue<Packet>",
                          "MaxSize",
                          QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));
        auto devices = m_helper.Install(x, y);
        for (uint32_t end = 0; end < 2; end++)
        {
            m_queues.push_back(devices.Get(end)->GetObject<PointToPointNetDevice>()->GetQueue());
        }
        auto ends = m_addresses.Assign(devices);
        m_addresses.NewNetwork();
        return ends;
    }

    // A host of its own on a 1 Gb/s link to a router; its address.
    Ipv4Address AddHost(Ptr<Node> host, Ptr<Node> router, uint32_t ms)
    {
        auto ends = Link(host, router, 1000, ms, NEVER_DROPS);
        RouteDefault(host, ends.GetAddress(1), Last(host));
        RouteHost(router, ends.GetAddress(0), ends.GetAddress(0), Last(router));
        return ends.GetAddress(0);
    }

    static void RouteDefault(Ptr<Node> node, Ipv4Address gateway, uint32_t interface)
    {
        Table(node)->AddNetworkRouteTo("0.0.0.0", "0.0.0.0", gateway, interface);
    }

    void RouteHost(Ptr<Node> node, Ipv4Address host, Ipv4Address gateway, uint32_t interface)
    {
        m_hostRoutes[node].push_back({host, gateway, interface});
    }

    // Enters the host routes, one table after the other. A table is a linked list that is walked
    // for each packet: entries made while the topology is built lie scattered in memory, and at
    // N = 1000 that costs up to half of the time per hop.
    void FillTables() const
    {
        for (const auto& [node, routes] : m_hostRoutes)
        {
            for (const auto& route : routes)
            {
                Table(node)->AddHostRouteTo(route.host, route.gateway, route.interface);
            }
        }
    }

    // The number of the interface that was added to a node last.
    static uint32_t Last(Ptr<Node> node)
    {
        return node->GetObject<Ipv4>()->GetNInterfaces() - 1;
    }

    uint64_t Hops() const
    {
        uint64_t hops = 0;
        for (const auto& queue : m_queues)
        {
            hops += queue->GetTotalReceivedPackets() - queue->GetNPackets();
        }
        return hops;
    }

    uint64_t Drops() const
    {
        uint64_t drops = 0;
        for (const auto& queue : m_queues)
        {
            drops += queue->GetTotalDroppedPackets();
        }
        return drops;
    }

  private:
    struct HostRoute
    {
        Ipv4Address host;
        Ipv4Address gateway;
        uint32_t interface;
    };

    static Ptr<Ipv4GlobalRouting> Table(Ptr<Node> node)
    {
        return DynamicCast<Ipv4GlobalRouting>(node->GetObject<Ipv4>()->GetRoutingProtocol());
    }

    InternetStackHelper m_stack;
    PointToPointHelper m_helper;
    Ipv4AddressHelper m_addresses;
    std::vector<Ptr<Queue<Packet>>> m_queues;
    std::map<Ptr<Node>, std::vector<HostRoute>> m_hostRoutes;
};

// A greedy TCP flow; its sink counts the bytes that arrived in order.
Ptr<PacketSink>
AddGreedyFlow(Ptr<Node> from, Ptr<Node> to, Ipv4Address toAddress, double start)
{
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(toAddress, PORT));
    source.Install(from).Start(Seconds(start));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    return sink.Install(to).Get(0)->GetObject<PacketSink>();
}

// UDP datagrams at equal intervals, without the time stamps and bookkeeping of the stock clients.
class ConstantRateSource
{
  public:
    ConstantRateSource(Ptr<Node> from, Ipv4Address to, uint32_t payload, Time interval)
        : m_socket(Socket::CreateSocket(from, UdpSocketFactory::GetTypeId())),
          m_payload(payload),
          m_interval(interval)
    {
        m_socket->Bind();
        m_socket->Connect(InetSocketAddress(to, PORT));
        m_socket->ShutdownRecv();
        Simulator::ScheduleWithContext(from->GetId(), Time(0), &ConstantRateSource::Send, this);
    }

  private:
    void Send()
    {
        m_socket->Send(Create<Packet>(m_payload));
        Simulator::Schedule(m_interval, &ConstantRateSource::Send, this);
    }

    Ptr<Socket> m_socket;
    uint32_t m_payload;
    Time m_interval;
};

void
Discard(Ptr<Socket> socket)
{
    while (socket->Recv())
    {
    }
}

// A socket that discards what it is sent. Closing its receiving side instead would be cheaper, but
// ns-3 then answers each datagram with "port unreachable".
Ptr<Socket>
AddDiscard(Ptr<Node> node)
{
    auto socket = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
    socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
    socket->SetRecvCallback(MakeCallback(&Discard));
    return socket;
}

void
RunAndReport(const std::string& workload,
             const Network& network,
             const std::vector<Ptr<PacketSink>>& sinks,
             double seconds)
{
    network.FillTables();
    Simulator::Stop(Seconds(seconds));
    const double start = CpuSeconds();
    Simulator::Run();
    const double run = CpuSeconds() - start;

    uint64_t bytes = 0;
    for (const auto& sink : sinks)
    {
        bytes += sink->GetTotalRx();
    }
    std::printf("{\"workload\": \"%s\", \"flows\": %zu, \"hops\": %llu, \"drops\": %llu, "
                "\"goodput_mbps\": %.3f, \"run_cpu_s\": %.6f, \"setup_s\": %.6f, "
                "\"peak_rss_kb\": %ld}\n",
                workload.c_str(),
                sinks.size(),
                static_cast<unsigned long long>(network.Hops()),
                static_cast<unsigned long long>(network.Drops()),
                bytes * 8e-6 / seconds,
                run,
                start,
                PeakRssKb());
}

void
Dumbbell(uint32_t flows, uint32_t rateMbps, double seconds)
{
    Network network;
    auto a = network.AddNode();
    auto b = network.AddNode();
    // One bandwidth-delay product at a round trip of 52 ms.
    const auto queue = static_cast<uint32_t>(std::lround(6.25 * rateMbps));
    auto core = network.Link(a, b, rateMbps, 20, queue);
    Network::RouteDefault(a, core.GetAddress(1), Network::Last(a));
    Network::RouteDefault(b, core.GetAddress(0), Network::Last(b));

    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 0; i < flows; i++)
    {
        auto sender = network.AddNode();
        auto receiver = network.AddNode();
        const uint32_t ms = 1 + i % 5;
        network.AddHost(sender, a, ms);
        auto to = network.AddHost(receiver, b, ms);
        sinks.push_back(AddGreedyFlow(sender, receiver, to, double(i) / flows));
    }
    RunAndReport("w1", network, sinks, seconds);
}

void
Chain(double seconds)
{
    const uint32_t links = 10;
    const uint32_t flows = 10;
    Network network;
    std::vector<Ptr<Node>> routers{network.AddNode()};
    std::vector<Ipv4Address> back(1);        // of router k: the address of router k - 1
    std::vector<uint32_t> backInterface(1);  // and the interface to it
    for (uint32_t k = 0; k < links; k++)
    {
        routers.push_back(network.AddNode());
        auto ends = network.Link(routers[k], routers[k + 1], 100, 5, 1300);
        Network::RouteDefault(routers[k], ends.GetAddress(1), Network::Last(routers[k]));
        back.push_back(ends.GetAddress(0));
        backInterface.push_back(Network::Last(routers[k + 1]));
    }

    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 0; i < flows; i++)
    {
        auto sender = network.AddNode();
        auto receiver = network.AddNode();
        auto from = network.AddHost(sender, routers[0], 1);
        auto to = network.AddHost(receiver, routers[links], 1);
        for (uint32_t k = 1; k <= links; k++)
        {
            network.RouteHost(routers[k], from, back[k], backInterface[k]);
        }
        sinks.push_back(AddGreedyFlow(sender, receiver, to, 0.1 * i));
    }

    std::vector<Ptr<Socket>> discards;
    std::vector<ConstantRateSource> sources;
    sources.reserve(links); // scheduled by address: they must not move
    for (uint32_t k = 0; k < links; k++)
    {
        auto sender = network.AddNode();
        auto receiver = network.AddNode();
        network.AddHost(sender, routers[k], 1);
        auto to = network.AddHost(receiver, routers[k + 1], 1);
        discards.push_back(AddDiscard(receiver));
        sources.emplace_back(sender, to, 1000 - 20 - 8, MicroSeconds(160));
    }
    RunAndReport("w2", network, sinks, seconds);
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string workload;
    uint32_t flows = 1;
    uint32_t rateMbps = 100;
    double seconds = 60;
    std::string scheduler = "PriorityQueue";
    CommandLine cmd(__FILE__);
    cmd.AddValue("workload", "w1 (dumbbell) or w2 (chain)", workload);
    cmd.AddValue("flows", "W1: number of flows", flows);
    cmd.AddValue("rate-mbps", "W1: rate of the bottleneck", rateMbps);
    cmd.AddValue("seconds", "simulated time", seconds);
    cmd.AddValue("scheduler", "PriorityQueue (the fastest here), Map, Calendar or Heap", scheduler);
    cmd.Parse(argc, argv);

    SetDefaults(scheduler);
    if (workload == "w1")
    {
        Dumbbell(flows, rateMbps, seconds);
    }
    else if (workload == "w2")
    {
        Chain(seconds);
    }
    else
    {
        std::fprintf(stderr, "--workload must be w1 or w2\n");
        return 2;
    }
    Simulator::Destroy();
    return 0;
}
