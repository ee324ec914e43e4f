import { createServer } from 'node:http';
import { AgentCard } from '@a2a-js/sdk';
import {
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  type ServerCallContext,
} from '@a2a-js/sdk/server';
import { jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express, { type Request, type Response } from 'express';
import type { IncomingHttpHeaders } from 'node:http';
import type { Binding } from '../../clients/a2a.ts';
import { operations } from './operations.ts';
import { createRemoteAgent } from './remote-agent.ts';
import { buildCard, type CardKey, signCard } from './remote-card.ts';
import { listen } from '../servers/listen.ts';

export interface ReceivedCall {
  /** The operation of A2A. */
  method: string;
  headers: IncomingHttpHeaders;
  /** The parameters. */
  // The tests say what they expect of it.
  // oxlint-disable-next-line typescript/no-explicit-any
  params: any;
}

/** An answer in place of that of the agent; or the connection is dropped before or after the agent got the call. */
export type Fault =
  | { status: number; headers?: Record<string, string>; body?: object }
  | 'lost'
  | 'unanswered'
  | 'endless';

export interface RemoteServerOptions {
  binding?: Binding;
  /** Whether it sends push notifications. */
  hasPush?: boolean;
}

/** An A2A server with the server classes of the A2A project, over one binding, with an agent that answers by the text of a message. */
export async function startRemoteServer({ binding = 'JSONRPC', hasPush = true }: RemoteServerOptions = {}) {
  const app = express();
  const { url, close } = await listen(createServer(app));
  const agent = createRemoteAgent();
  const calls: ReceivedCall[] = [];
  const tokens = { required: undefined as string | undefined, requests: 0 };
  const faults: { method: string; left: number; fault: Fault }[] = [];
  const shown = {
    card: buildCard(url, { binding, hasPush }),
    key: undefined as CardKey | undefined,
    requests: 0,
    failures: 0,
    isEndless: false,
    location: undefined as string | undefined,
  };
  const pause = { gate: Promise.resolve() };
  const overridden = new Map<string, (params: unknown) => unknown>();
  const configs = new InMemoryPushNotificationStore();
  const handler = new DefaultRequestHandler(
    AgentCard.fromJSON(shown.card),
    new InMemoryTaskStore(),
    agent.executor,
    undefined,
    configs,
    new DefaultPushNotificationSender(configs),
  );

  app.get('/card.json', async (_, response: Response) => {
    shown.requests += 1;
    if (shown.failures >= shown.requests) return void response.status(503).end();
    if (shown.location !== undefined) return response.redirect(shown.location);
    if (shown.isEndless) return writeForever(response);
    const { card, key } = shown;
    response.json(key ? await signCard(card, key, `${url}/keys.json`) : card);
  });
  app.get(
    '/keys.json',
    (_, response: Response) => void response.json({ keys: shown.key ? [shown.key.jwk] : [] }),
  );
  app.post('/token', express.urlencoded(), (request, response: Response) => {
    if (takeFault('token') === 'lost') {
      request.socket.destroy();
      return;
    }
    tokens.requests += 1;
    tokens.required = `token-${tokens.requests}`;
    response.json({ access_token: tokens.required, token_type: 'Bearer', expires_in: 3_600 });
  });

  /** The fault of this call, if one is set. */
  function takeFault(method: string): Fault | undefined {
    const found = faults.find((one) => one.left > 0 && (one.method === '*' || one.method === method));
    if (found) found.left -= 1;
    return found?.fault;
  }

  app.use('/a2a', express.json({ limit: '20mb', type: ['application/json', 'application/a2a+json'] }));
  app.use('/a2a', (request: Request, response: Response, next) => {
    const call = readCall(request);
    calls.push(call);
    pause.gate.then(() => respond(call, request, response, next), next);
  });
  function respond(call: ReceivedCall, request: Request, response: Response, next: () => void): void {
    if (tokens.required !== undefined && request.get('authorization') !== `Bearer ${tokens.required}`) {
      response.status(401).set('WWW-Authenticate', 'Bearer').json({ error: 'invalid_token' });
      return;
    }
    const fault = takeFault(call.method);
    const answer = overridden.get(call.method)?.(call.params);
    if (fault === 'lost') request.socket.destroy();
    else if (fault === 'endless') writeForever(response);
    else if (typeof fault === 'object') {
      response.status(fault.status).set(fault.headers ?? {});
      const body =
        fault.body && binding === 'JSONRPC'
          ? { jsonrpc: '2.0', id: request.body.id, ...fault.body }
          : fault.body;
      response.json(body ?? { error: { code: fault.status, message: 'A fault.' } });
    } else if (answer !== undefined) {
      response.json(binding === 'JSONRPC' ? { jsonrpc: '2.0', id: request.body.id, result: answer } : answer);
    } else {
      if (fault === 'unanswered') dropAnswer(request, response);
      next();
    }
  }
  const options = { requestHandler: handler, userBuilder: UserBuilder.noAuthentication };
  app.use('/a2a', binding === 'JSONRPC' ? jsonRpcHandler(options) : restHandler(options));

  return {
    url,
    cardUrl: `${url}/card.json`,
    agent,
    /** All calls, in order. */
    calls,
    callsOf: (method: string) => calls.filter((call) => call.method === method),
    /** The texts of the messages that were sent to it, in order, repeated ones too. */
    texts: () =>
      calls
        .filter(({ method }) => method === 'SendMessage')
        .map(
          ({ params }) =>
            params.message.parts.find(({ text }: { text?: string }) => text !== undefined)?.text,
        ),
    /** Fails the next calls of a method; `*`: of any. */
    failNext(method: string, fault: Fault, count = 1) {
      faults.push({ method, left: count, fault });
    },
    /** Ends all faults. */
    recover() {
      faults.length = 0;
    },
    /** Answers a method in place of the agent from now on; undefined: the agent answers. */
    answer(method: string, toResult: ((params: never) => unknown) | undefined) {
      if (toResult) overridden.set(method, toResult as (params: unknown) => unknown);
      else overridden.delete(method);
    },
    /** Holds all calls until the returned function is called. */
    hold(): () => void {
      let release = (): void => undefined;
      pause.gate = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    /** Only calls with this token are accepted. Undefined: all. */
    requireToken(token: string | undefined) {
      tokens.required = token;
    },
    /** How often a token was requested. */
    tokenRequests: () => tokens.requests,
    cardRequests: () => shown.requests,
    /** The first requests for the card fail. */
    failCard(count: number) {
      shown.failures = count;
    },
    /** The card never ends. */
    sendEndlessCard() {
      shown.isEndless = true;
    },
    redirectCard(location: string) {
      shown.location = location;
    },
    interfaces: shown.card['supportedInterfaces'],
    changeCard(fields: object) {
      shown.card = { ...shown.card, ...fields };
    },
    /** Signs the card from now on. Undefined: it is not signed. */
    signWith(key: CardKey | undefined) {
      shown.key = key;
    },
    /** The task, as the server has it. */
    getTask: (id: string) => handler.getTask({ id, tenant: '', historyLength: undefined }, anyone),
    cancelTask: (id: string) => handler.cancelTask({ id, tenant: '', metadata: undefined }, anyone),
    close,
  };
}

export type RemoteServer = Awaited<ReturnType<typeof startRemoteServer>>;

const anyone = { user: undefined } as unknown as ServerCallContext;

/** Writes JSON until the client closes the connection. */
function writeForever(response: Response): void {
  const spaces = ' '.repeat(65_536);
  const write = (): void => {
    while (!response.destroyed && response.write(spaces));
  };
  response.set('Content-Type', 'application/json').write('{');
  response.on('drain', write);
  write();
}

/** The agent gets the call, and its client no answer. */
function dropAnswer(request: Request, response: Response): void {
  response.end = () => {
    request.socket.destroy();
    return response;
  };
}

function readCall({ method: http, path, body, query, headers }: Request): ReceivedCall {
  if (path === '/') return { method: body?.method, headers, params: body?.params };
  const found = Object.values(operations).find(
    (one) => one.http === http && new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/:]+')}$`).test(path),
  );
  return {
    method: found?.method ?? `${http} ${path}`,
    headers,
    params: http === 'POST' ? body : { ...query, path },
  };
}
