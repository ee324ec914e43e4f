import { expect, test } from 'vitest';
import { z } from 'zod';
import { readNextPart } from '../../../../src/services/agents/export-records.ts';
import { openCredential } from '../../../../src/services/remote/credentials.ts';
import type { TestAgent } from '../../../support/service.ts';
import { startRemoteServer } from '../../../support/a2a/remote-server.ts';
import { type Installation, useInstallation } from '../setup.ts';
import { connect, invite, tokenFor } from './setup.ts';

const here = useInstallation();
const there = useInstallation();

const record = z.looseObject({ kind: z.string() });

/** The records of an export, besides conversations, as the archive has them. */
async function exportOf({ core }: Installation, { id: agent_id }: Pick<TestAgent, 'id'>) {
  const start = { stage: 'belongings' as const, belonging: '["agent"]', thread_id: '', sequence: 0 };
  const { text } = await readNextPart(core, { ...start, agent_id });
  const records = text
    .trim()
    .split('\n')
    .map((line) => record.parse(JSON.parse(line)));
  return { text, records: (kind: string) => records.filter((each) => each.kind === kind) };
}

test('the data of an agent has the agents of other systems that it can write to, and its invitations, without secrets', async () => {
  const { ann, bob, remoteBob, remoteAnn } = await connect(here, there);
  const server = await startRemoteServer();
  const bearer = 'a-token-of-the-other-side';
  const remote = await here.addRemote(ann, {
    card_url: server.cardUrl,
    handle: 'other',
    credential: { kind: 'bearer', token: bearer },
  });
  await server.close();
  const address = await invite(here, ann);
  const [owner] = ann.handle.split('.');
  const sibling = await here.register({ handle: `${owner}.sibling` });
  const stranger = await here.agent();

  const mine = await exportOf(here, ann);
  expect(mine.records('remote_agent')).toMatchObject([
    {
      handle: remoteBob.handle,
      state: 'ready',
      credential_kind: 'invitation',
      only_with: ann.handle,
      confirmed: { fingerprint: expect.any(String) },
    },
    { handle: remote.handle, card_url: server.cardUrl, credential_kind: 'bearer', only_with: null },
  ]);
  expect(mine.records('remote_invitation')).toMatchObject([{ remote_agent: null, redeemed_at: null }]);
  const invited = await exportOf(there, bob);
  expect(invited.records('remote_agent')).toMatchObject([
    { handle: remoteAnn.handle, only_with: bob.handle },
  ]);
  expect(invited.records('remote_invitation')).toMatchObject([
    { remote_agent: remoteAnn.handle, redeemed_at: expect.any(Number) },
  ]);
  // Another agent of the owner can write to the second one only.
  expect((await exportOf(here, sibling)).records('remote_agent')).toMatchObject([{ handle: remote.handle }]);
  expect((await exportOf(here, stranger)).records('remote_agent')).toEqual([]);
  expect((await exportOf(here, remote)).records('remote_agent')).toMatchObject([{ handle: remote.handle }]);

  const secrets = [
    bearer,
    address.split('/').at(-1),
    await tokenFor(here, remoteBob),
    await tokenFor(there, remoteAnn),
  ];
  for (const { text } of [mine, invited, await exportOf(here, remoteBob)])
    for (const secret of secrets) expect(text).not.toContain(secret);
  for (const column of ['secret_hash', 'redeemer_hash', '"token"', '"credential"'])
    expect(mine.text + invited.text).not.toContain(column);
  const stored = await here.core.db.remoteAgents.find(remote.id);
  expect(stored && openCredential(here.core.settings.sealedBox, stored)).toMatchObject({ token: bearer });
});
