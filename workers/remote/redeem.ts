import { z } from 'zod';
import type { Core } from '../../src/compose.ts';
import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { type GuardedFetch, RequestFailed } from '../../src/platform/outbound/guarded-fetch.ts';
import type { RemoteAgentRow } from '../../src/repositories/remote/agents.ts';
import { a2aCardUrl } from '../../packages/core/src/domain/a2a.ts';
import { openCredential, sealCredential } from '../../src/services/remote/credentials.ts';
import { AddressBlocked } from '../../src/platform/outbound/policy.ts';
import { describeFailure } from '../../src/platform/outbound/failures.ts';

type Access = { token: string | null } | { error: string };

const limits = { timeoutMs: 10_000, maxBytes: 16 * 1024 };

const answerOf = z.object({
  card_url: z.string().max(2_048),
  token: z.string().regex(/^[\w~+/.-]{16,4096}=*$/),
});

/**
 * Redeems the invitation of a claimed record, if it has one that was not redeemed. The request is the same each time, so that it can be
 * repeated after a lost answer or a stopped process.
 * @returns the token with which the card can be read (null: without one), or why the invitation could not be redeemed, for people.
 */
export async function redeem(core: Core, record: RemoteAgentRow): Promise<Access> {
  if (record.credential_kind !== 'invitation') return { token: null };
  const { settings, db, unitOfWork, remoteClient } = core;
  const { agent_id, bound_id } = record;
  const sealed = readInvitation(settings, record);
  if (!sealed) return { error: 'the credential cannot be read: SECRET_KEY has changed' };
  const { token, request } = sealed;
  if (!request) return { token };
  const bound = bound_id === null ? undefined : await db.agents.find(bound_id);
  if (!bound) return { error: 'the agent that was to be connected is retired' };
  const own = { card_url: a2aCardUrl(settings.publicUrl, bound.canonical_handle), token: request.token };
  const answer = await post(remoteClient.createFetch(limits), request.url, own);
  if (typeof answer === 'string') return { error: answer };
  const credential = { kind: 'invitation' as const, token: answer.token, request: null };
  const redeemed = {
    card_url: answer.card_url,
    credential: sealCredential(settings.sealedBox, agent_id, credential).credential,
  };
  const isStored = await unitOfWork.write(system, (work) =>
    work.db.remoteAgents.setRedeemed({ ...redeemed, agent_id, lease: record.next_at }),
  );
  if (!isStored) return { error: 'another process has redeemed the invitation' };
  Object.assign(record, redeemed);
  return { token: answer.token };
}

function readInvitation({ sealedBox }: Core['settings'], record: RemoteAgentRow) {
  try {
    const credential = openCredential(sealedBox, record);
    return credential.kind === 'invitation' ? credential : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the answer of the other installation, or why there is none, for people. */
async function post(fetch: GuardedFetch, url: string, body: object) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status === 404) return 'the invitation is unknown, has expired, or was used';
    if (response.status !== 200)
      return `the address of the invitation answers with the status ${response.status}`;
    const answer = answerOf.safeParse(await response.json()).data;
    if (!answer) return 'the answer to the invitation cannot be read';
    const isOfSameOrigin = URL.parse(answer.card_url)?.origin === new URL(url).origin;
    return isOfSameOrigin ? answer : 'the agent card is at another origin than the invitation';
  } catch (error) {
    if (error instanceof RequestFailed) return error.message;
    if (error instanceof AddressBlocked) return describeFailure(error);
    return 'the answer to the invitation cannot be read';
  }
}
