#include "tests/unit/cluster/example_dumps.h"

namespace moesim {
namespace {

constexpr const char* kNvSwitch = R"(<system version="1">
  <cpu numaid="0" affinity="0f" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:10:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:11:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="90" rank="1" gdr="1">
          <nvlink target="0000:c2:00.0" count="2" tclass="0x068000"/>
          <nvlink target="0000:c1:00.0" count="3" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:12:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="8">
        <nic>
          <net name="mlx5_0" dev="0" speed="400000" port="1" gdr="1"/>
        </nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" affinity="f0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:20:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:21:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="0000:c1:00.0" count="3" tclass="0x068000"/>
          <nvlink target="0000:c2:00.0" count="2" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:22:00.0" class="0x020000" link_speed="16.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_1" dev="1" speed="100000" port="1" gdr="1"/>
          <net name="mlx5_2" dev="2" speed="100000" port="2" gdr="1"/>
        </nic>
      </pci>
    </pci>
  </cpu>
</system>
)";

constexpr const char* kXgmi = R"(<system version="2">
  <cpu numaid="0" affinity="ff" arch="x86_64" vendor="AuthenticAMD" familyid="175" modelid="17">
    <pci busid="0000:01:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:03:00.0" class="0x120000" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="304" gcn="gfx942" arch="38911" rank="0" gdr="1">
          <xgmi target="0000:04:00.0" count="1" tclass="0x120000"/>
          <xgmi target="0000:05:00.0" count="1" tclass="0x120000"/>
        </gpu>
      </pci>
      <pci busid="0000:04:00.0" class="0x120000" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="304" gcn="gfx942" arch="38911" rank="1" gdr="1">
          <xgmi target="0000:03:00.0" count="1" tclass="0x120000"/>
          <xgmi target="0000:05:00.0" count="1" tclass="0x120000"/>
        </gpu>
      </pci>
    </pci>
    <pci busid="0000:05:00.0" class="0x120000" link_speed="16.0 GT/s PCIe" link_width="16">
      <gpu dev="2" sm="304" gcn="gfx942" arch="38911" rank="2" gdr="1">
        <xgmi target="0000:03:00.0" count="1" tclass="0x120000"/>
        <xgmi target="0000:04:00.0" count="1" tclass="0x120000"/>
      </gpu>
    </pci>
    <nic>
      <net name="eth0" dev="0" speed="25000" port="0" gdr="0"/>
    </nic>
  </cpu>
</system>
)";

constexpr const char* kVirtual = R"(<!-- Give it to NCCL as NCCL_TOPO_FILE. -->
<system version="1">
  <cpu numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">
    <pci busid="ffff:ff:01.0" class="0x060400" link_speed="8 GT/s" link_width="16">
      <pci busid="0000:10:1c.0" class="0x030200" vendor="0x10de"
           link_speed="8 GT/s" link_width="16"/>
      <pci busid="0000:10:1d.0" class="0x030200" vendor="0x10de"
           link_speed="8 GT/s" link_width="16"/>
      <pci busid="0000:10:1b.0" class="0x020000" vendor="0x1d0f"
           link_speed="8 GT/s" link_width="16"/>
    </pci>
  </cpu>
</system>
)";

// GPU0 and NIC0 are below one switch, GPU1 below another of the same root port.
constexpr const char* kPcieMatrix =
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tPXB\tSYS\tPIX\tSYS\t0-7,16-23\t0\t\tN/A\n"
    "GPU1\tPXB\t X \tSYS\tPXB\tSYS\t0-7,16-23\t0\t\tN/A\n"
    "GPU2\tSYS\tSYS\t X \tSYS\tPHB\t8-15,24-31\t1\t\tN/A\n"
    "NIC0\tPIX\tPXB\tSYS\t X \tSYS\t\t\t\t\n"
    "NIC1\tSYS\tSYS\tPHB\tSYS\t X \t\t\t\t\n"
    "\n"
    "Legend:\n"
    "\n"
    "  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the interconnect between NUMA nodes\n"
    "\n"
    "NIC Legend:\n"
    "\n"
    "  NIC0: mlx5_0\n"
    "  NIC1: mlx5_1\n";

constexpr const char* kNvSwitchMatrix = R"($ nvidia-smi topo -m
      GPU0  GPU1  GPU2  GPU3  CPU Affinity  NUMA Affinity
GPU0   X    NV12  NV12  NV12   0-23         0
GPU1  NV12   X    NV12  NV12   0-23         0
GPU2  NV12  NV12   X    NV12  24-47         1
GPU3  NV12  NV12  NV12   X    24-47         1
)";

constexpr const char* kBridgeMatrix =
    "     GPU0\tGPU1\tGPU2\tGPU3\tmlx5_0\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV4\tSYS\tSYS\tNODE\t0,2,4,6\t0\n"
    "GPU1\tNV4\t X \tSYS\tSYS\tNODE\t0,2,4,6\t0\n"
    "GPU2\tSYS\tSYS\t X \tNV4\tSYS\t1,3,5,7\t1\n"
    "GPU3\tSYS\tSYS\tNV4\t X \tSYS\t1,3,5,7\t1\n"
    "mlx5_0\tNODE\tNODE\tSYS\tSYS\t X \t\t\n";

NodeDump make_dump(const char* path, const char* text) {
  NodeDump dump;
  dump.path = path;
  dump.text = text;
  return dump;
}

NodeDump make_matrix(const char* text) {
  NodeDump dump = make_dump("matrix.txt", text);
  dump.pcie_rate = 30e9;
  dump.memory_rate = 200e9;
  dump.socket_interconnect_rate = 20e9;
  return dump;
}

}  // namespace

ExampleDump nvswitch_example() {
  return {"nvswitch", 2, make_dump("topology.xml", kNvSwitch)};
}

ExampleDump xgmi_example() {
  return {"xgmi", 3, make_dump("topology.xml", kXgmi)};
}

ExampleDump virtual_example() {
  NodeDump dump = make_dump("topology.xml", kVirtual);
  dump.nic_rate = 12.5e9;
  dump.nvlink = NvLinkSpec{.form = NvLinkForm::kPairs, .rate = 100e9, .latency = 1e-6};
  return {"virtual", 2, dump};
}

ExampleDump pcie_matrix_example() {
  NodeDump dump = make_matrix(kPcieMatrix);
  dump.nic_rate = 12.5e9;
  return {"pcie matrix", 3, dump};
}

ExampleDump nvswitch_matrix_example() {
  return {"nvswitch matrix", 4, make_matrix(kNvSwitchMatrix)};
}

ExampleDump bridge_matrix_example() {
  NodeDump dump = make_matrix(kBridgeMatrix);
  dump.nic_rate = 12.5e9;
  dump.nvlink_link_rate = 14e9;
  return {"bridge matrix", 4, dump};
}

std::vector<ExampleDump> all_example_dumps() {
  return {nvswitch_example(),
          xgmi_example(),
          virtual_example(),
          pcie_matrix_example(),
          nvswitch_matrix_example(),
          bridge_matrix_example()};
}

}  // namespace moesim
