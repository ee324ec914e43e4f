import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorStatuses } from '../../../../packages/core/src/domain/errors.ts';
import {
  type ResponseCheck,
  createResponseCheck,
  type HttpExchange,
} from '../../../support/openapi/response-check.ts';
import { fetchMergedDocument } from '../../../support/openapi/served-document.ts';
import { requestRest } from '../../../clients/rest.ts';
import { isNightly } from '../../../support/extent.ts';
import { useService } from '../../../support/service.ts';
import {
  arbitraryRequest,
  type RequestDraft,
  type Endpoint,
  listEndpoints,
  validRequest,
} from './requests.ts';
import { createSender, type Sender } from './send.ts';
import { createFuzzFixtures, type FuzzFixtures } from './fixtures.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? 20_260_101);
const atLeast = Number(process.env['FUZZ_RUNS'] ?? (isNightly ? 10_000 : 200));

/** The number of concurrent requests, and the unit that is repeated after a failure. */
const batch = 24;

const networks = { WEBHOOK_NETWORKS: '127.0.0.1', REMOTE_NETWORKS: '127.0.0.1' };
const service = useService({ worker: false, env: { RATE_LIMITS: 'off', ...networks } });
let fixtures: FuzzFixtures;
let sender: Sender;
let answers: ResponseCheck;
let endpoints: Endpoint[];
const served = new Map<string, number>();
const statuses = new Map<number, number>();
const sent = { requests: 0 };

beforeAll(async () => {
  const document = await fetchMergedDocument(service.url);
  answers = createResponseCheck(document);
  endpoints = listEndpoints(document);
  fixtures = await createFuzzFixtures(service);
  sender = createSender(service.url, fixtures);
});
afterAll(async () => {
  sender.close();
});

/** @throws {Error} when a response breaks the documented behavior. */
async function exchange(draft: RequestDraft): Promise<void> {
  const resident = fixtures.agents[draft.agentIndex % fixtures.agents.length];
  if (resident && draft.path.startsWith('/inbox')) await fixtures.inboxes.add(resident.id);
  const answer = await sender.send(draft);
  sent.requests += 1;
  if (!answer) return;
  statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  expectDocumentedResponse(answer);
  const operation = answers.check(answer);
  if (!operation || (answer.status >= 300 && answer.status !== 302)) return;
  served.set(operation, (served.get(operation) ?? 0) + 1);
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
  if (resident && isJson && answer.text) fixtures.recordIds(operation, resident, JSON.parse(answer.text));
}

function expectDocumentedResponse({ method, path, status, headers, text }: HttpExchange): void {
  const what = `${method} ${path.slice(0, 300)} answered ${status}: ${text.slice(0, 300)}`;
  expect(headers.get('x-request-id'), what).toMatch(/^[\w.-]{8,128}$/);
  if (status < 400) return expect(status, what).toSatisfy((one) => one < 300 || one === 302 || one === 304);
  if (method === 'HEAD') return expect(status, what).toBeLessThan(500);
  const { code, request_id } = JSON.parse(text).error;
  expect(errorStatuses, what).toHaveProperty(code, status);
  expect(request_id, what).toBe(headers.get('x-request-id'));
  if (status >= 500) expect(code, what).toBe('AGENT_PAUSED');
}

test('every request, even a hostile one, gets a documented response', { timeout: 1_200_000 }, async () => {
  const drafts = fc.array(arbitraryRequest(endpoints), { minLength: 1, maxLength: batch, size: 'max' });
  const property = fc.asyncProperty(drafts, async (some) => {
    await Promise.all(some.map(exchange));
  });
  console.log(`fuzz: FUZZ_SEED=${seed} FUZZ_RUNS=${atLeast}`);
  for (let round = 0; sent.requests < atLeast; round += 1) {
    await fc.assert(property, {
      seed: seed + round,
      numRuns: 50,
      interruptAfterTimeLimit: 600_000,
      markInterruptAsFailure: true,
    });
  }
  console.log(`fuzz: ${sent.requests} requests`, Object.fromEntries([...statuses].sort(([a], [b]) => a - b)));
  expect(sent.requests).toBeGreaterThanOrEqual(atLeast);
});

// Requests the operations that the first test did not reach until they are served.
test('every operation was served at least once', { timeout: 300_000 }, async () => {
  for (const endpoint of endpoints) {
    const { operationId } = endpoint.operation;
    // Some operations need others first: a request before an approval, a contact before a removal.
    const related = endpoints.filter(({ operation }) => operation.tags[0] === endpoint.operation.tags[0]);
    const arbitrary = fc.oneof(validRequest(endpoint), ...related.map(validRequest));
    for (let round = 0; round < 100 && !served.has(operationId); round += 1) {
      for (const draft of fc.sample(arbitrary, { numRuns: 20, seed: seed + round })) {
        if (served.has(operationId)) break;
        await exchange(draft);
      }
    }
    expect(served.get(operationId) ?? 0, operationId).toBeGreaterThan(0);
  }
});

test('afterwards the service is healthy, and no sequence has a gap', async () => {
  expect((await requestRest('GET', `${service.url}/readyz`)).body.status).toBe('ok');
  const broken = await service.sql(unevenThreads);
  expect(broken).toEqual([]);
  for (const { id, token } of fixtures.agents) {
    expect((await service.get({ token }, '/agents/me')).body.id).toBe(id);
    const numbers = await readFeed(id, token);
    expect(numbers.length).toBeGreaterThan(0);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  }
});

/** Threads whose messages are not numbered 1, 2, 3 … up to the last sequence. */
const unevenThreads = `
  select t.id from threads t left join messages m on m.thread_id = t.id
  group by t.id, t.last_sequence
  having count(m.id) <> t.last_sequence or coalesce(max(m.sequence), 0) <> t.last_sequence`;

/** The numbers of all events of an agent, read page by page through the long poll. */
async function readFeed(agent: string, token: string): Promise<number[]> {
  const { cursors } = service.core.settings;
  const numbers: number[] = [];
  let cursor = cursors.encodeFeed(agent, 0);
  for (let complete = false; !complete;) {
    const { body } = await service.get({ token }, `/events?limit=100&cursor=${cursor}`);
    const events: { cursor: string }[] = body.events;
    numbers.push(...events.map((event) => cursors.decodeFeed(agent, event.cursor)));
    ({ cursor, complete } = body);
  }
  return numbers;
}
