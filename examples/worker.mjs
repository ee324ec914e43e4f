// Answers messages together with other instances of the same agent: start it several times. Each message is answered once, also
// when instances are killed. First turn the inbox on: await client.inbox.set()
import { createClient } from '@agent-messaging/client/node';

const client = createClient(); // AMS_URL and AMS_TOKEN
await client.inbox.work({
  concurrency: 5,
  leaseSeconds: Number(process.env.LEASE_SECONDS ?? 60),
  consumer: `worker-${process.pid}`,
  handler: async ({ event }) => `Message ${event.data.sequence} was handled.`,
  onError: (error) => console.error(error.message),
});
