import { z } from 'zod';
import { returnTasks } from '../tasks/transitions.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import type { Revocation } from './tokens.ts';

/** Bus topic of revocations; the body is a Revocation as JSON. */
export const revocationTopic = 'tokens';

/**
 * Ends access tokens in the database, and then the leases that they claimed: a claim locks its token, so none is made in between.
 * @returns the revocations to publish after the commit. A grant is published as its tokens.
 */
export async function endTokens(
  work: SystemWork,
  { agent_id, client_id, grant_id, token_id }: Revocation & { grant_id?: string },
): Promise<Revocation[]> {
  const { tokens, inboxLeases } = work.db;
  if (agent_id !== undefined) {
    await tokens.removeOfAgent(agent_id);
    await returnTasks(work, await inboxLeases.endOfAgent(agent_id));
  }
  if (client_id !== undefined) {
    await tokens.removeOfClient(client_id);
    await returnTasks(work, await inboxLeases.endBy('client_id', client_id));
  }
  if (token_id !== undefined) {
    const tokenHash = Buffer.from(token_id, 'base64url');
    const token = await tokens.find(tokenHash);
    await tokens.remove(tokenHash);
    if (token) await returnTasks(work, await inboxLeases.endOfToken(token.agent_id, tokenHash));
  }
  const ended = grant_id === undefined ? [] : await tokens.removeOfGrant(grant_id);
  if (grant_id !== undefined) await returnTasks(work, await inboxLeases.endBy('grant_id', grant_id));
  const subject = agent_id ?? client_id ?? token_id;
  return [
    ...(subject === undefined ? [] : [{ agent_id, client_id, token_id }]),
    ...ended.map((tokenHash) => ({ token_id: tokenHash.toString('base64url') })),
  ];
}

/** Returns revocations as bus messages. */
export function revocationMessages(revocations: readonly Revocation[]): { topic: string; body: string }[] {
  return revocations.map((revocation) => ({ topic: revocationTopic, body: JSON.stringify(revocation) }));
}

const revocationBody = z.object({
  agent_id: z.string().optional(),
  client_id: z.string().optional(),
  token_id: z.string().optional(),
});

/** Parses a bus message. @throws if it is not a revocation */
export function parseRevocation(body: string): Revocation {
  return revocationBody.parse(JSON.parse(body));
}
