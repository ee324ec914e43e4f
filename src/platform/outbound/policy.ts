import { lookup as systemLookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface Network {
  address: string;
  /** Length of the prefix in bits. */
  prefix: number;
}

export type OutboundProtocol = 'http:' | 'https:';

/** Decides which addresses this process may connect to when a client names the URL (protection against SSRF). */
export interface OutboundPolicy {
  isAllowed(address: string, protocol: string): boolean;
  /** Whether no private network is allowed. */
  isPublicOnly: boolean;
}

/** The only allocated part of IPv6 (RFC 4291). */
const globalUnicast6 = ipaddr.parseCIDR('2000::/3');

/**
 * Allows public addresses over https, and the given networks over http and https. The IANA special-purpose registries (RFC 6890) are not
 * public. IPv4 addresses embedded in IPv6 are not public either.
 */
export function createOutboundPolicy(networks: readonly Network[]): OutboundPolicy {
  const allowed = networks.map(({ address, prefix }) => ({ network: ipaddr.parse(address), prefix }));
  return {
    isPublicOnly: networks.length === 0,
    isAllowed(address, protocol) {
      if (isIP(address) === 0) return false;
      const parsed = ipaddr.parse(address);
      const isListed = allowed.some(
        ({ network, prefix }) => network.kind() === parsed.kind() && parsed.match(network, prefix),
      );
      if (isListed) return true;
      if (protocol !== 'https:' || parsed.range() !== 'unicast') return false;
      return parsed.kind() === 'ipv4' || parsed.match(globalUnicast6);
    },
  };
}

/** The host resolves to no allowed address, or does not resolve. The client does not learn which of the two. */
export class AddressBlocked extends Error {
  override name = 'AddressBlocked';
}

/** @returns the IP address that the host of a URL is, without brackets; undefined when the host is a name. */
export function parseHostAddress({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) > 0 ? host : undefined;
}

/**
 * Why requests to a URL are refused, judged by the URL alone; undefined if they are not.
 * @param setting the one that allows private networks.
 */
export function findUrlProblem(policy: OutboundPolicy, text: string, setting: string): string | undefined {
  const url = URL.parse(text);
  const protocol = url?.protocol;
  if (!url || (protocol !== 'https:' && (protocol !== 'http:' || policy.isPublicOnly))) {
    const isPlain = protocol === 'http:';
    const advice = isPlain ? `; the operator can allow http in a local network with ${setting}` : '';
    return `must be an address that starts with https://${advice}`;
  }
  if (url.username !== '' || url.password !== '') return 'must hold no user name and no password';
  if (url.hash !== '') return 'must have no fragment';
  const addresses = isLocalhost(url) ? loopback : [parseHostAddress(url)];
  const isRefused = (address: string | undefined) =>
    address !== undefined && !policy.isAllowed(address, protocol);
  return addresses.every(isRefused) ? 'must lead to a public address' : undefined;
}

const loopback = ['127.0.0.1', '::1'];

/** Every such name is the machine itself (RFC 6761, section 6.3). */
const isLocalhost = ({ hostname }: URL) => /(?:^|\.)localhost\.?$/.test(hostname);

export interface GuardedAgentOptions {
  keepAlive?: http.AgentOptions;
  /** Trusted beside the usual certificates, and another resolver; for tests. */
  ca?: string | undefined;
  lookup?: typeof systemLookup | undefined;
}

/**
 * An agent that connects only to allowed addresses. It checks the resolved addresses and connects to one of those, so a second
 * DNS answer changes nothing. Node looks up names only: callers check a URL with an IP address as its host themselves.
 */
export function createGuardedAgent(
  policy: OutboundPolicy,
  protocol: OutboundProtocol,
  { keepAlive, ca, lookup }: GuardedAgentOptions = {},
): http.Agent {
  const options = { ...keepAlive, lookup: createGuardedLookup(policy, protocol, lookup) };
  return protocol === 'http:'
    ? new http.Agent(options)
    : new https.Agent({ ...options, ...(ca !== undefined && { ca }) });
}

function createGuardedLookup(
  policy: OutboundPolicy,
  protocol: OutboundProtocol,
  lookup: typeof systemLookup = systemLookup,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const allowed = error ? [] : addresses.filter(({ address }) => policy.isAllowed(address, protocol));
      const [first] = allowed;
      if (!first) callback(new AddressBlocked(hostname, { cause: error }), '', 4);
      else if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}
