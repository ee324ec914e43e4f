import { startWebhookReceiver } from '../../../support/servers/webhook-receiver.ts';

/** A receiver of callbacks. It refuses the first one of PUSH-DELIV-002, which expects another attempt. */
export async function startCallbackReceiver() {
  const receiver = await startWebhookReceiver({ isDescribed: false });
  receiver.setHandler((response, { path }) => {
    const isFirst = receiver.postsAt(path).length === 1;
    response.writeHead(path.endsWith('/PUSH-DELIV-002') && isFirst ? 503 : 204).end();
  });
  return receiver;
}
