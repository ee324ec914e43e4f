import { z } from 'zod';
import { DomainError, wrongField } from '../../../../core/src/domain/errors.ts';
import { requireFeedScope } from '../../../../core/src/events/feed-scopes.ts';
import { describeUnknown } from '../../../../core/src/inputs/describe-issue.ts';
import { acknowledgeInput, eventsQuery } from '../../../../core/src/inputs/events.ts';
import { invalidInput, parseInput } from '../../../../core/src/inputs/parse-input.ts';
import { requireAgent } from '../operations/agents.ts';
import type { Exchange } from './exchange.ts';
import { execute, type Operation, operations } from '../operations/execute.ts';
import {
  acknowledge,
  encodeCursor,
  markDelivered,
  presentEvent,
  readEvents,
  startPosition,
  waitForEvents,
} from '../core/feed.ts';
import { type Call, enter, type State } from '../core/state.ts';
import { authenticate, bearerToken, issueTicket } from './tokens.ts';

interface Route {
  name: string;
  operation: Operation;
  isLong: boolean;
  pattern: RegExp;
}

const longPath = '/agents/{owner}/{agent_name}';

function toPattern(path: string): RegExp {
  return new RegExp(`^/v1${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

/** Paths with fewer parameters first: /agents/me before /agents/{agent_ref}. */
const routes: readonly Route[] = [...operations]
  .flatMap(([name, operation]) => {
    const paths = operation.forms ? [operation.path, `${longPath}${operation.path}`] : [operation.path];
    return paths.map((path, index) => ({ name, operation, isLong: index === 1, path }));
  })
  .sort((a, b) => a.path.split('{').length - b.path.split('{').length)
  .map(({ path, ...route }) => ({ ...route, pattern: toPattern(path) }));

/** Answers a request of the REST API. @throws {DomainError} */
export async function answerRest(state: State, exchange: Exchange): Promise<void> {
  const { method, path, headers, signal } = exchange;
  const special = specialRoutes[`${method} ${path}`];
  if (special) return special(authenticate(state, bearerToken(headers.authorization), signal), exchange);
  if (method === 'GET' && cardPattern.test(path)) {
    refuseUnknownQuery(exchange);
    return answerCard(state, exchange);
  }
  const found = routes.filter(({ pattern }) => pattern.test(path));
  const route = found.find(({ operation }) => operation.method === method);
  if (!route) throw noRoute(exchange, found);
  const call = authenticate(state, bearerToken(headers.authorization), signal);
  const input = await readInput(call, exchange, route);
  const key = readKey(exchange, route.operation);
  const { output, isReplayed } = await execute(call, route.name, input, key);
  if (isReplayed) exchange.setHeader('Idempotency-Replayed', 'true');
  answer(exchange, route, output, state.url);
}

function noRoute(exchange: Exchange, found: readonly Route[]): DomainError {
  const { method, path } = exchange;
  if (found.length === 0) return new DomainError('NOT_FOUND', `No such endpoint: ${method} ${path}.`);
  const methods = found.map(({ operation }) => operation.method).join(', ');
  exchange.setHeader('Allow', methods);
  return new DomainError('METHOD_NOT_ALLOWED', `${path} supports ${methods}.`);
}

async function readInput(call: Call, exchange: Exchange, { operation, pattern, isLong }: Route) {
  refuseUnknownQuery(exchange, operation.method === 'GET' ? operation.input : undefined);
  const groups = Object.entries(pattern.exec(exchange.path)?.groups ?? {});
  const params = new Map(groups.map(([name, value]) => [name, decodeURIComponent(value)]));
  if (isLong) {
    const handle = `${params.get('owner')}.${params.get('agent_name')}`.toLowerCase().replace(/^@/, '');
    params.delete('owner');
    params.delete('agent_name');
    if (handle !== call.me.canonical_handle) {
      const message = `The path must name the agent that the token acts as: ${call.me.canonical_handle}.`;
      throw new DomainError('FORBIDDEN', message);
    }
  }
  const body =
    operation.upload !== undefined
      ? { [operation.upload]: await exchange.readFile(operation.upload) }
      : operation.method === 'GET'
        ? readQuery(exchange.query, operation.input)
        : await exchange.readJson();
  const repeated = [...params.keys()].find((name) => name in body);
  if (repeated !== undefined) throw wrongField(repeated, 'is not a field of this request');
  return { ...body, ...Object.fromEntries(params) };
}

type Fields = Record<string, { type?: string }>;

/** The JSON Schema of each field of an input. */
function fieldsOf(input: z.ZodType): Fields {
  const { properties = {} } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  return properties as Fields;
}

/** @throws {DomainError} VALIDATION_ERROR */
function refuseUnknownQuery({ query }: Exchange, input?: z.ZodType): void {
  const known = Object.keys(input ? fieldsOf(input) : {});
  const unknown = [...new Set(query.keys())].filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw invalidInput(
      unknown.map((field) => ({ field, message: describeUnknown(field, known, undefined) })),
    );
}

/** Query parameters with the types of the schema. */
function readQuery(query: URLSearchParams, input: z.ZodType): Record<string, unknown> {
  const fields = fieldsOf(input);
  return Object.fromEntries([...query].map(([name, value]) => [name, readValue(value, fields[name])]));
}

function readValue(value: string, field: Fields[string] | undefined): unknown {
  if (field?.type === 'integer' && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (field?.type === 'boolean' && /^(?:true|false)$/.test(value)) return value === 'true';
  return value;
}

/** @throws {DomainError} IDEMPOTENCY_KEY_REQUIRED */
function readKey({ headers }: Exchange, { idempotency }: Operation): string | undefined {
  const key = headers['idempotency-key'];
  if (idempotency === undefined) return undefined;
  if (typeof key === 'string' && key !== '') return key;
  if (idempotency === 'accepted' && key === undefined) return undefined;
  throw new DomainError(
    'IDEMPOTENCY_KEY_REQUIRED',
    'The Idempotency-Key header is missing. Send a unique value, such as a UUID.',
  );
}

interface Output {
  id: string;
  thread_id: string;
  sequence: number;
  url: string;
  message: { thread_id: string; sequence: number };
  next_cursor?: string;
}

const toMessagePath = ({ thread_id, sequence }: Output['message']): string =>
  `/threads/${thread_id}/messages?order=asc&after_sequence=${sequence - 1}&limit=1`;

/** The path of what an operation has created. */
const locations: Record<string, (output: Output) => string> = {
  register_agent: ({ id }) => `/agents/${id}`,
  create_thread: ({ id }) => `/threads/${id}`,
  add_thread_member: ({ id }) => `/threads/${id}`,
  create_task: ({ id }) => `/tasks/${id}`,
  create_webhook: ({ id }) => `/webhooks/${id}`,
  create_attachment: ({ id }) => `/attachments/${id}`,
  send_message: toMessagePath,
  ask_agent: ({ message }) => toMessagePath(message),
  ask_in_thread: ({ message }) => toMessagePath(message),
};

function answer(exchange: Exchange, { name, operation }: Route, output: object, url: string): void {
  const shown = output as Output;
  const location = locations[name];
  if (location) exchange.setHeader('Location', `${url}/v1${location(shown)}`);
  if (operation.status === 302) exchange.setHeader('Location', shown.url);
  if (shown.next_cursor !== undefined) {
    const query = new URLSearchParams(exchange.query);
    query.set('cursor', shown.next_cursor);
    exchange.setHeader('Link', `<${exchange.path}?${query.toString()}>; rel="next"`);
  }
  if (operation.status === 204 || operation.status === 302) exchange.send(operation.status);
  else exchange.json(operation.status, output);
}

const cardPattern = toPattern(`${longPath}/card`);

/** The card of a public agent needs no token. */
function answerCard(state: State, exchange: Exchange): void {
  const { owner = '', agent_name = '' } = cardPattern.exec(exchange.path)?.groups ?? {};
  const handle = `${owner}.${agent_name}`.toLowerCase();
  const open = state.agents.get(state.agentIds.get(handle) ?? '');
  const isPublic = open?.visibility === 'public' && !open.is_retired;
  const token = bearerToken(exchange.headers.authorization);
  if (!isPublic && token === undefined)
    throw new DomainError('AGENT_NOT_FOUND', 'No such agent, or it is hidden from you.');
  const agent = isPublic ? open : requireAgent(authenticate(state, token, exchange.signal), handle);
  const { canonical_handle, display_name, description, skills, card_body } = agent;
  const front = { handle: canonical_handle, display_name, description, skills };
  const lines = Object.entries(front).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  exchange.setHeader('Content-Type', 'text/markdown; charset=utf-8');
  exchange.send(200, `---\n${lines.join('\n')}\n---\n\n${card_body}\n`);
}

async function listEvents(call: Call, exchange: Exchange): Promise<void> {
  const { me, state, scopes } = call;
  refuseUnknownQuery(exchange, eventsQuery);
  requireFeedScope(call);
  const { cursor, limit, wait } = parseInput(eventsQuery, readQuery(exchange.query, eventsQuery));
  const start = startPosition(me, cursor, 'earliest');
  const deadline = Date.now() + wait * 1_000;
  const leave = enter(state, me.id);
  let page = readEvents(me, scopes, start.position, limit);
  while (
    page.events.length === 0 &&
    !start.gap &&
    !page.gap &&
    Date.now() < deadline &&
    !call.signal.aborted
  ) {
    await waitForEvents(me, page.position, deadline - Date.now(), call.signal);
    page = readEvents(me, scopes, page.position, limit);
  }
  leave();
  if (call.signal.aborted) return;
  const events = page.events.map((event, index) => presentEvent(me, event, page.numbers[index] ?? 0));
  const gap = start.gap || page.gap ? { gap: true } : {};
  const { complete, position } = page;
  exchange.setHeader('Cache-Control', 'no-store');
  exchange.json(200, { events, cursor: encodeCursor(me, position), complete, ...gap });
  markDelivered(state, me, page.events);
}

async function acknowledgeEvents(call: Call, exchange: Exchange): Promise<void> {
  refuseUnknownQuery(exchange);
  requireFeedScope(call);
  const { cursor } = parseInput(acknowledgeInput, await exchange.readJson());
  acknowledge(call.state, call.me, cursor);
  exchange.send(204);
}

async function createTicket(call: Call, exchange: Exchange): Promise<void> {
  refuseUnknownQuery(exchange);
  requireFeedScope(call);
  parseInput(z.strictObject({}), await exchange.readJson());
  exchange.setHeader('Cache-Control', 'no-store');
  exchange.json(201, issueTicket(call));
}

const specialRoutes: Record<string, (call: Call, exchange: Exchange) => Promise<void>> = {
  'GET /v1/events': listEvents,
  'POST /v1/events/ack': acknowledgeEvents,
  'POST /v1/realtime/tickets': createTicket,
};
