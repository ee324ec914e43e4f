import { disabledAddresses } from '../../support/stubs.ts';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Middleware } from 'koa';
import type { Actor } from '../../../src/domain/auth/actor.ts';
import { createCursors } from '../../../src/domain/feed/cursors.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { newId } from '../../../src/domain/ids.ts';
import { packWakeups } from '../../../src/domain/feed/wakeups.ts';
import { createApp } from '../../../src/transports/http/app.ts';
import { authenticate } from '../../../src/transports/http/authenticate.ts';
import { createRateLimits } from '../../../src/operations/rate-limits.ts';
import { createPostgresBus } from '../../../src/platform/bus/postgres.ts';
import type { Bus } from '../../../src/platform/bus/bus.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { unlimited } from '../../../src/platform/rate-limits/limiter.ts';
import { migrateForward } from '../../../src/platform/database/migrations.ts';
import { createRealtime, type RealtimeParts } from '../../../src/realtime/create.ts';
import { Repositories } from '../../../src/repositories/index.ts';
import { eventRoutes } from '../../../src/transports/rest/events.ts';
import { createUnitOfWork } from '../../../src/work/unit-of-work.ts';
import { createWebSocketTransport } from '../../../src/transports/ws/transport.ts';
import type { WebSocketLimits } from '../../../src/transports/ws/limits.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { disabledOutbound } from '../../support/outbound-stub.ts';

export interface RealtimeNodeOptions {
  limits?: Partial<WebSocketLimits>;
  intervals?: RealtimeParts['intervals'];
  streams_per_agent?: number;
  lingerMs?: number;
  presence_intervals?: RealtimeParts['presence_intervals'];
  /** Whether what is committed here is handed to the readers here; else the bus alone rings. */
  localFanOut?: boolean;
  /** Wraps the bus, for example in one that loses calls. */
  bus?: (bus: Bus) => Bus;
}

/**
 * One API process in miniature, around the real feed: PostgreSQL and its bus, the reader, the WebSocket and the long poll.
 * Tokens are made by hand, so that a test decides when they end.
 */
export async function startRealtimeNode(options: RealtimeNodeOptions = {}) {
  const place = await createTestDatabase();
  await migrateForward(place.url);
  const logEntries: { message: string; error: unknown }[] = [];
  const log = (message: string, error: unknown) => void logEntries.push({ message, error });
  const database = openDatabase({
    url: place.url,
    poolSize: 8,
    onError: (error) => log('database', error),
  });
  const repositories = new Repositories(database);
  const cursors = createCursors('test');
  const postgres = createPostgresBus({ url: place.url, channel: 'test', log });
  const bus = options.bus?.(postgres) ?? postgres;
  const rings = new Set<Promise<void>>();
  const unitOfWork = createUnitOfWork({
    database,
    settings: {
      cursors,
      addresses: disabledAddresses,
      loopLimit: null,
      unsentLimit: null,
      maxAgents: null,
      ...disabledOutbound,
    },
    jobsOf: () => [],
    publish(news) {
      const { positions } = news;
      if (options.localFanOut !== false) realtime.fanOut(news);
      const ring = bus.publish(packWakeups(positions)).catch((error: unknown) => log('ring', error));
      rings.add(ring);
      void ring.then(() => rings.delete(ring));
    },
  });
  const realtime = createRealtime({
    feed: repositories.feed,
    presence: repositories.presence,
    bus,
    cursors,
    log,
    listValidTokens: async (ids) => new Set(ids),
    ...(options.intervals && { intervals: options.intervals }),
    ...(options.lingerMs !== undefined && { linger_ms: options.lingerMs }),
    ...(options.presence_intervals && { presence_intervals: options.presence_intervals }),
    ...(options.streams_per_agent && { streams_per_agent: options.streams_per_agent }),
  });

  const actors = new Map<string, { actor: Actor; doors: string }>();
  const tokens = {
    async verify(token: string, door: 'api' | 'mcp' | 'ws') {
      const known = actors.get(token);
      if (!known?.doors.includes(door) || known.actor.expires_at <= Date.now()) {
        throw new DomainError('UNAUTHORIZED', 'This access token is not good here.');
      }
      return known.actor;
    },
  };
  const metadata_url = 'http://localhost/.well-known/oauth-protected-resource';
  const transport = createWebSocketTransport({
    realtime,
    tokens,
    redeem: () => Promise.reject(new DomainError('UNAUTHORIZED', 'There are no tickets here.')),
    metadata_url,
    log,
    onOtherUpgrade: (socket) => void server.emit('connection', socket),
    ...(options.limits && { limits: options.limits }),
  });
  const draining = new AbortController();
  const routes = eventRoutes(realtime, createRateLimits(unlimited), draining.signal);
  const authenticated = authenticate(tokens, 'api', metadata_url);
  const events: Middleware = async (ctx, next) => {
    const route = routes.find(({ method, path }) => method === ctx.method && `/v1${path}` === ctx.path);
    const run = async (at: number): Promise<void> => {
      const stage = route?.stages[at];
      await (stage ? stage(ctx, () => run(at + 1)) : next());
    };
    await (route ? authenticated(ctx, () => run(0)) : next());
  };
  const quiet = () => undefined;
  const logger = {
    debug: quiet,
    info: quiet,
    warn: quiet,
    fatal: quiet,
    error: (fields: object, message: string) => log(message, fields),
  };
  const app = createApp({ logger, trust_proxy: false, handlers: [events] });
  const handler = app.callback();
  const server = createServer((request, response) => void handler(request, response));
  server.on('upgrade', transport.upgrade);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = readPort(server.address());

  return {
    address: `http://127.0.0.1:${port}`,
    port,
    realtime,
    face: transport,
    logged: logEntries,
    database,
    repositories,
    cursors,
    bus,
    draining,
    /** A new agent with a feed of its own. */
    async agent(): Promise<string> {
      const id = newId('agent');
      await database.query({ text: agentSql }, [newId('account'), id, `o${randomUUID().slice(0, 8)}`]);
      return id;
    },
    /** A token of this agent, good for a minute unless told otherwise. */
    token(agent_id: string, changes: Partial<Actor> & { doors?: string } = {}): string {
      const { doors = 'api ws', ...own } = changes;
      const token = randomUUID();
      const actor: Actor = {
        agent_id,
        handle: 'ada.bot',
        owner_id: 'acc_1',
        scopes: new Set(['threads:read']),
        client_id: 'client',
        resource: 'ws://localhost/ws',
        expires_at: Date.now() + 60_000,
        token_id: token,
        ...own,
      };
      actors.set(token, { actor, doors });
      return token;
    },
    /** One event in the feeds of these agents, committed and rung for; answers the subject that marks it. */
    async emit(recipients: readonly string[], subject: string, thread_id = newId('thread')): Promise<string> {
      const actor = buildActor(recipients[0] ?? '');
      await unitOfWork.write(actor, null, async (work) => {
        const data = buildThreadData(thread_id, subject);
        work.emit({ type: 'thread.updated', thread_id, data, recipients });
        return { body: '' };
      });
      return subject;
    },
    /** One event that belongs to no thread. */
    async emitContact(recipient: string, canonical_handle: string): Promise<void> {
      await unitOfWork.write(buildActor(recipient), null, async (work) => {
        const data = { agent_id: newId('agent'), canonical_handle };
        work.emit({ type: 'contact.removed', recipients: [recipient], data });
        return { body: '' };
      });
    },
    async stop(): Promise<void> {
      draining.abort();
      await transport.close();
      await realtime.close();
      server.close();
      server.closeAllConnections();
      await Promise.all(rings);
      await postgres.close();
      await database.close();
      await place.drop();
    },
  };
}

export type RealtimeNode = Awaited<ReturnType<typeof startRealtimeNode>>;

function readPort(address: string | { port: number } | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address.port;
}

const agentSql = `
  with owner as (insert into owners (id, kind, name, created_at) values ($1, 'account', $3, 0)),
  account as (insert into accounts (id) values ($1)),
  agent as (
    insert into agents (id, owner_id, canonical_handle, display_name, scope, visibility, inbound_policy, created_at, updated_at)
    values ($2, $1, $3 || '.bot', 'Bot', 'personal', 'private', 'open', 0, 0))
  insert into feed_heads (agent_id) values ($2)`;

function buildActor(agent_id: string): Actor {
  return {
    agent_id,
    handle: 'ada.bot',
    owner_id: 'acc_1',
    scopes: new Set(),
    client_id: 'client',
    resource: '',
    expires_at: Number.MAX_SAFE_INTEGER,
    token_id: '',
  };
}

function buildThreadData(id: string, subject: string): object {
  const times = { created_at: 1, updated_at: 1, last_message_at: null };
  return { id, subject, status: 'active', created_by: 'agt_1', members: [], last_sequence: 0, ...times };
}
