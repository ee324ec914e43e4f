import { z } from 'zod';
import type { SystemWork } from '../../work/unit-of-work.ts';
import type { Revocation } from './tokens.ts';

/** The bus topic on which every process hears of tokens that ended; the body is a Revocation as JSON. */
export const revocationTopic = 'tokens';

/**
 * Ends access tokens in the database.
 * @returns what to announce once it is committed. A grant is announced as its tokens: an actor does not name its grant.
 */
export async function endTokens(
  { tokens }: Pick<SystemWork, 'tokens'>,
  revocation: Revocation,
): Promise<Revocation[]> {
  const { agent_id, client_id, grant_id, token_id } = revocation;
  if (agent_id !== undefined) await tokens.removeOfAgent(agent_id);
  if (client_id !== undefined) await tokens.removeOfClient(client_id);
  if (token_id !== undefined) await tokens.remove(Buffer.from(token_id, 'base64url'));
  const ended = grant_id === undefined ? [] : await tokens.removeOfGrant(grant_id);
  const whole = agent_id ?? client_id ?? token_id;
  return [
    ...(whole === undefined ? [] : [{ agent_id, client_id, token_id }]),
    ...ended.map((tokenHash) => ({ token_id: tokenHash.toString('base64url') })),
  ];
}

/** Revocations as messages for the bus. */
export function revocationMessages(revocations: readonly Revocation[]): { topic: string; body: string }[] {
  return revocations.map((revocation) => ({ topic: revocationTopic, body: JSON.stringify(revocation) }));
}

const revocationBody = z.object({
  agent_id: z.string().optional(),
  client_id: z.string().optional(),
  grant_id: z.string().optional(),
  token_id: z.string().optional(),
});

/** A message of the bus as a revocation. Throws when it is none. */
export function parseRevocation(body: string): Revocation {
  return revocationBody.parse(JSON.parse(body));
}
