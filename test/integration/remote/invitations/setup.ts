import { expect } from 'vitest';
import { openCredential } from '../../../../src/services/remote/credentials.ts';
import { createRemoteInvitation } from '../../../../src/services/remote/invitations.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { type ProxyAction, startHttpProxy } from '../../../support/servers/http-proxy.ts';
import type { TestAgent } from '../../../support/service.ts';
import { waitUntil } from '../../webhooks/setup.ts';
import { type AddedRemote, type Installation, startInstallation } from '../setup.ts';

/**
 * An installation behind a line that does with each request what it is told. Its attempts follow quickly.
 * @param decide what the line does with the next request.
 */
export async function startBehindProxy(decide: () => ProxyAction): Promise<Installation> {
  const port = await findFreePort();
  const proxy = await startHttpProxy(`http://127.0.0.1:${port}`, decide);
  const scheduleMs = Array<number>(200).fill(20);
  const pacing = { scheduleMs, remoteScheduleMs: scheduleMs, maxRetryAfterMs: 100 };
  const env = { PUBLIC_URL: proxy.url, RATE_LIMITS: 'off' };
  const installation = await startInstallation({ port, env, pacing });
  async function stop(): Promise<boolean> {
    const isStopped = await installation.stop();
    await proxy.close();
    return isStopped;
  }
  return { ...installation, stop };
}

/** Faults of a line that drops and doubles requests. */
const faults: readonly ProxyAction[] = ['pass', 'pass', 'cut', 'unanswered', 'double', 503];

/** What a faulty line does with the next request. */
export const pickFault = (): ProxyAction => faults[Math.floor(Math.random() * faults.length)] ?? 'pass';

/** An agent of each of two installations, and how each sees the other one. */
export interface Connected {
  ann: TestAgent;
  bob: TestAgent;
  /** Bob at the installation of Ann. */
  remoteBob: AddedRemote;
  /** Ann at the installation of Bob. */
  remoteAnn: AddedRemote;
}

/** The address of a new invitation of an agent. */
export async function invite(service: Installation, { id }: TestAgent): Promise<string> {
  return (await service.write((work) => createRemoteInvitation(work, id, null))).address;
}

/** Redeems an invitation for an agent. */
export async function accept(
  service: Installation,
  by: TestAgent,
  invitation: string,
  fields: object = {},
): Promise<AddedRemote> {
  const input = { invitation, agent: by.handle, ...fields };
  const { status, text, body } = await service.post(by, '/remote-agents', input);
  expect(status, text).toBe(201);
  return { id: body.id, handle: body.canonical_handle };
}

/** The only remote agent that talks with an agent. */
export async function findRemote(service: Installation, { id }: TestAgent): Promise<AddedRemote | undefined> {
  const [found] = await service.core.db.remoteAgents.listBound(id);
  return found && { id: found.id, handle: found.canonical_handle };
}

/** Connects a new agent of an installation with a new one of another, which invites it. */
export async function connect(
  here: Installation,
  there: Installation,
  fields: object = {},
): Promise<Connected> {
  const [ann, bob] = [await here.agent(fields), await there.agent(fields)];
  const remoteBob = await accept(here, ann, await invite(there, bob));
  await waitUntil(async () => (await here.readRemote(ann, remoteBob.id)).state).toBe('ready');
  const remoteAnn = await findRemote(there, bob);
  if (!remoteAnn) throw new Error('the invitation was not redeemed');
  await waitUntil(async () => (await there.readRemote(bob, remoteAnn.id)).state).toBe('ready');
  return { ann, bob, remoteBob, remoteAnn };
}

/** The only thread of an agent. */
export async function threadOf(service: Installation, agent: TestAgent): Promise<string> {
  const threads = async () => (await service.get(agent, '/threads')).body.threads;
  await waitUntil(async () => (await threads()).length).toBe(1);
  return (await threads())[0].id;
}

/** The token with which an installation calls a remote agent. */
export async function tokenFor(service: Installation, { id }: AddedRemote): Promise<string> {
  const record = await service.core.db.remoteAgents.find(id);
  const credential = record && openCredential(service.core.settings.sealedBox, record);
  if (credential?.kind !== 'invitation') throw new Error('the record has no token of an invitation');
  return credential.token ?? '';
}
