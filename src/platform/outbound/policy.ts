import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

export interface Network {
  address: string;
  /** Bits that all addresses of it share. */
  prefix: number;
}

/** Which addresses this process may call on a stranger's word. */
export interface OutboundPolicy {
  isAllowed(address: string, protocol: string): boolean;
  /** Whether nothing but public addresses is open. */
  isPublicOnly: boolean;
}

/** All of IPv4 that is not for everybody to be reached at (RFC 6890 and its registry), multicast, and what is reserved. */
const special4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];

/** Within 2000::/3, the only part of IPv6 that is given out: ways into IPv4 and what is for special purposes. */
const special6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

function toBlockList(ranges: readonly (string | Network)[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] =
      typeof range === 'string' ? range.split('/') : [range.address, range.prefix];
    list.addSubnet(address, Number(prefix), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

const blocked4 = toBlockList(special4);
const blocked6 = toBlockList(special6);
const allocated6 = toBlockList(['2000::/3']);

/** Over https public addresses; and what the networks name, over http too. IPv4 in the clothes of IPv6 is never public. */
export function createOutboundPolicy(networks: readonly Network[]): OutboundPolicy {
  const open = toBlockList(networks);
  return {
    isPublicOnly: networks.length === 0,
    isAllowed(address, protocol) {
      const family = isIP(address);
      if (family === 0) return false;
      if (open.check(address, family === 4 ? 'ipv4' : 'ipv6')) return true;
      if (protocol !== 'https:') return false;
      if (family === 4) return !blocked4.check(address, 'ipv4');
      return allocated6.check(address, 'ipv6') && !blocked6.check(address, 'ipv6');
    },
  };
}

/** A name that leads to no address that may be called, or to none at all: which of the two is nobody's business. */
export class AddressBlocked extends Error {
  override name = 'NoWayOut';
}

/**
 * Looks names up for a connection, and lets it see only what may be called: it is made to one of the addresses that were checked,
 * whatever the name leads to a moment later.
 */
export function createGuardedLookup(
  egress: OutboundPolicy,
  protocol: string,
  lookup: typeof systemLookup = systemLookup,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const open = error ? [] : addresses.filter(({ address }) => egress.isAllowed(address, protocol));
      const [first] = open;
      if (!first) callback(new AddressBlocked(hostname, { cause: error }), '', 4);
      else if (options.all) callback(null, open);
      else callback(null, first.address, first.family);
    });
  };
}
