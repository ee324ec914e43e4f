import { expect, test } from 'vitest';
import { a2aCardSchema } from '../../../src/presenters/a2a/card-schema.ts';
import { outcomeOf, requestRest } from '../../clients/rest.ts';
import { startService, useSharedService } from '../../support/service.ts';

const service = useSharedService();

const cardUrl = (handle: string, url = service.url) =>
  `${url}/a2a/${handle.replace('.', '/')}/.well-known/agent-card.json`;
const readCard = (handle: string, url?: string) => requestRest('GET', cardUrl(handle, url));

test('the card of a public agent says how to reach it', async () => {
  const agent = await service.agent();
  const { handle } = agent;
  const [owner = ''] = handle.split('.');
  const skills = [{ name: 'plan', description: 'Makes plans.' }];
  await service.patch(agent, '/agents/me', { display_name: 'The Planner', description: 'Plans.', skills });
  const { status, body } = await readCard(handle);
  expect(status).toBe(200);
  const card = a2aCardSchema.parse(body);
  const url = `http://localhost:3000/a2a/${handle.replace('.', '/')}`;
  expect(card).toMatchObject({
    name: 'The Planner',
    description: 'Plans.',
    provider: { url: 'http://localhost:3000', organization: owner },
    documentationUrl: `http://localhost:3000/v1/agents/${handle.replace('.', '/')}/card`,
    skills: [{ id: 'plan', name: 'plan', description: 'Makes plans.', tags: ['plan'] }],
  });
  expect(card.supportedInterfaces).toEqual([
    { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ]);
  expect((await readCard(`@${handle.toUpperCase()}`)).body).toEqual(body);
});

test('an agent without a description and skills has a valid card', async () => {
  const { handle } = await service.agent();
  const { body } = await readCard(handle);
  expect(a2aCardSchema.parse(body).skills.map(({ id }) => id)).toEqual(['conversation']);
  expect(body.description).toBe(`An agent of ${handle.split('.')[0]}.`);
});

test('absent and private agents, and invalid handles have no card', async () => {
  const { handle } = await service.agent({ visibility: 'private' });
  const answers = await Promise.all([handle, 'absent.agent', '-.-'].map((name) => readCard(name)));
  expect(answers.map(outcomeOf)).toEqual(Array(3).fill('404 AGENT_NOT_FOUND'));
  const messages = answers.map(({ body }) => body.error.message);
  expect(new Set(messages).size).toBe(1);
});

test('A2A=false serves nothing under /a2a', async () => {
  const off = await startService({ env: { A2A: 'false' }, worker: false });
  try {
    const { handle } = await off.agent();
    for (const path of ['', '/', '/message:send', '/.well-known/agent-card.json']) {
      const answer = await requestRest('GET', `${off.url}/a2a/${handle.replace('.', '/')}${path}`);
      expect(outcomeOf(answer)).toBe('404 NOT_FOUND');
    }
  } finally {
    await off.stop();
  }
});
