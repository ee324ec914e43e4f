import { createHash } from 'node:crypto';
import { decodeTime, encodeTime } from 'ulid';
import { idPrefixes, isId } from '../../../packages/core/src/domain/ids.ts';

/**
 * The id of a lease. A fencing token belongs to one lease of the agent, so the id is the token with a checksum over the agent. It shows
 * without a query whether the agent ever had the lease, however long ago it ended.
 */
export function toLeaseId(agentId: string, fencingToken: number): string {
  return `${idPrefixes.lease}_${encodeTime(fencingToken)}${checksum(agentId, fencingToken)}`;
}

/** The fencing token in the id of a lease; undefined if the agent cannot have had the lease. */
export function readFencingToken(agentId: string, leaseId: string): number | undefined {
  if (!isId('lease', leaseId)) return undefined;
  const fencingToken = decodeTime(leaseId.slice(-26));
  return toLeaseId(agentId, fencingToken) === leaseId ? fencingToken : undefined;
}

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** 80 bits, in the alphabet of identifiers. It is no secret: look-ups are by agent. */
function checksum(agentId: string, fencingToken: number): string {
  const digest = createHash('sha256').update(`${agentId} ${fencingToken}`).digest();
  return Array.from(digest.subarray(0, 16), (byte) => crockford[byte % 32]).join('');
}
