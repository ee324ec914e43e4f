// Receives webhooks: WEBHOOK_SECRET=whsec_... node webhook-receiver.mjs
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { verifyWebhook, WebhookVerificationError } from '@agent-messaging/client/node';

const seen = new Set(); // delivery is at least once: a program that restarts keeps the ids elsewhere

async function receive(request, response) {
  try {
    const event = await verifyWebhook(await text(request), request.headers, process.env.WEBHOOK_SECRET);
    if (!seen.has(event.id)) console.log(event.type, JSON.stringify(event.data));
    seen.add(event.id);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof WebhookVerificationError ? 400 : 500).end();
  }
}

const server = createServer((request, response) => void receive(request, response));
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`);
});
