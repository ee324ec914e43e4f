import {
  type Client,
  type FeedEvent,
  type Message as ServiceMessage,
  NotFoundError,
  type Thread,
  verifyWebhook,
} from '@agent-messaging/client';

/** Returns whether a request comes from the service. False or an error rejects the request. */
export type WebhookVerifier = (request: Request, body: string) => unknown;

export interface ReceiveOptions {
  client: Client;
  webhookSecret: string | undefined;
  webhookVerifier: WebhookVerifier | undefined;
  /** The id of the bot. */
  getOwnId: () => string | undefined;
  onMessage: (message: ServiceMessage, thread: Thread) => void;
}

/**
 * Creates the receiver of webhooks. It returns 401 without a valid signature, and 503 when the thread cannot be read: the service then
 * delivers the event again. Own messages and other events get 200 and have no effect.
 */
export function createReceiver(options: ReceiveOptions): (request: Request) => Promise<Response> {
  return async function receive(request) {
    const event = await verify(request, options);
    if (!event) return new Response('The request has no valid signature.', { status: 401 });
    if (event.type === 'message.created' && event.data.sender.id !== options.getOwnId()) {
      try {
        options.onMessage(event.data, await options.client.threads.get({ thread_id: event.data.thread_id }));
      } catch (error) {
        // The bot has left the thread.
        if (!(error instanceof NotFoundError)) return new Response('Try again later.', { status: 503 });
      }
    }
    return new Response('OK');
  };
}

async function verify(request: Request, options: ReceiveOptions): Promise<FeedEvent | undefined> {
  const body = await request.text();
  try {
    if (!options.webhookVerifier)
      return await verifyWebhook(body, request.headers, options.webhookSecret ?? '');
    return (await options.webhookVerifier(request, body)) ? (JSON.parse(body) as FeedEvent) : undefined;
  } catch {
    return undefined;
  }
}
