import { z } from 'zod';
import type { RemoteAgentRow } from '../../repositories/remote/agents.ts';
import type { SealedBox } from '../../shared/encryption.ts';

const credential = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('none') }),
  z.object({ kind: z.literal('bearer'), token: z.string() }),
  z.object({
    kind: z.literal('client_credentials'),
    client_id: z.string(),
    client_secret: z.string(),
    /** Null: the one that the card names. */
    token_url: z.string().nullable(),
  }),
  z.object({
    kind: z.literal('invitation'),
    /** Issued by the other installation; null before it has answered. */
    token: z.string().nullable(),
    /** The address of the invitation, and the token that is posted to it; null after that, and on the side that invited. */
    request: z.object({ url: z.string(), token: z.string() }).nullable(),
  }),
]);

/** What calls to a remote agent are authorized with. */
export type RemoteCredential = z.infer<typeof credential>;

const nameOf = (agent_id: string): string => `remote ${agent_id}`;

/** Encrypts a credential for one agent; null for none. */
export function sealCredential(
  box: SealedBox,
  agent_id: string,
  secret: RemoteCredential,
): Pick<RemoteAgentRow, 'credential_kind' | 'credential'> {
  const sealed = secret.kind === 'none' ? null : box.seal(JSON.stringify(secret), nameOf(agent_id));
  return { credential_kind: secret.kind, credential: sealed };
}

/** @throws if SECRET_KEY is not the one with which it was sealed */
export function openCredential(
  box: SealedBox,
  { agent_id, credential: sealed }: Pick<RemoteAgentRow, 'agent_id' | 'credential'>,
): RemoteCredential {
  return sealed === null
    ? { kind: 'none' }
    : credential.parse(JSON.parse(box.open(sealed, nameOf(agent_id))));
}
