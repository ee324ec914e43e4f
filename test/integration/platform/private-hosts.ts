/** Forms of hosts that no client of addresses from users connects to. `localhost` is a name that resolves to one. */
export const privateHosts: readonly string[] = `
  127.0.0.1 localhost 127.1 2130706433 0x7f.1 0.0.0.0 10.0.0.1 100.64.0.1 169.254.169.254 172.16.0.1
  172.31.255.255 192.0.0.1 192.0.2.1 192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1
  240.0.0.1 255.255.255.255 [::] [::1] [::127.0.0.1] [::ffff:127.0.0.1] [::ffff:7f00:1]
  [::ffff:8.8.8.8] [64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [2001::1] [2001:db8::1] [2002:7f00:1::]
  [fc00::1] [fd00:ec2::254] [fe80::1] [fec0::1] [ff02::1] [4000::1] [fd00::1]
`
  .trim()
  .split(/\s+/);
