import { SendMessageRequest, type Message, type Task } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  createAuthenticatingFetchWithRetry,
} from '@a2a-js/sdk/client';
import { createCheckedFetch } from '../../support/a2a/checked-fetch.ts';

export const sdkBindings = ['JSONRPC', 'HTTP+JSON'] as const;
export type SdkBinding = (typeof sdkBindings)[number];

/** Gets a token; it is asked again after a 401. */
type TokenSource = () => Promise<string>;

/** The client of the A2A project, for one agent over one binding. `settle` returns what is wrong with the answers that it got. */
export async function connectSdk(binding: SdkBinding, base: string, getToken: TokenSource) {
  const checked = createCheckedFetch(base);
  let token = await getToken();
  const toHeaders = () => ({ Authorization: `Bearer ${token}` });
  const fetchImpl = createAuthenticatingFetchWithRetry(checked.fetch, {
    headers: async () => toHeaders(),
    async shouldRetryWithHeaders(_, { status }) {
      if (status !== 401) return undefined;
      token = await getToken();
      return toHeaders();
    },
  });
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [binding],
    // The card of a public agent needs no token.
    cardResolver: new DefaultAgentCardResolver({ fetchImpl: checked.fetch }),
  });
  const client: Client = await factory.createFromUrl(`${base}/.well-known/agent-card.json`, '');
  return { client, settle: checked.settle };
}

/** A request with this text. `fields` are of the message, `configuration` of the request. */
export function buildRequest(text: string, fields: object = {}, configuration?: object): SendMessageRequest {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...fields };
  return SendMessageRequest.fromJSON({ message, ...(configuration && { configuration }) });
}

export function asTask(result: Message | Task): Task {
  if (!('status' in result)) throw new Error('the answer is a message');
  return result;
}
