import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/*
 * One instance of an agent, as its developer would write it: it claims messages and acknowledges each with a reply. It gets the addresses of the
 * API from its parent, and ends with it. Each claim and each answer is a line of one log, which all instances share.
 */
const { TOKEN, NAME, LOG } = process.env;
let addresses = [];
let turn = 0;
process.on('message', (current) => (addresses = current));
process.once('disconnect', () => process.exit(1));

const log = (entry) => appendFileSync(LOG, `${JSON.stringify({ consumer: NAME, ...entry })}\n`);

/** Sends a request, with the same key, until an API process answers it. */
async function post(path, body, key) {
  const headers = {
    Authorization: `Bearer ${TOKEN}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': key,
  };
  for (;;) {
    const address = addresses[turn++ % Math.max(1, addresses.length)];
    try {
      const response = await fetch(`${address}/v1/inbox${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      const answer = await response.json();
      if (response.status < 500) return { status: response.status, answer };
    } catch {
      // The process was killed, or the connection with it.
    }
    await pause(50);
  }
}

for (;;) {
  const request = { max: 10, lease_seconds: 5, wait_seconds: 2, consumer: NAME };
  const { answer } = await post('/leases', request, crypto.randomUUID());
  const received_at = Date.now();
  const leases = answer.leases ?? [];
  for (const { id, fencing_token: token, expires_at, event } of leases) {
    log({
      kind: 'claimed',
      token,
      received_at,
      expires_at,
      thread_id: event.data.thread_id,
      message_id: event.data.id,
    });
    await pause(Math.random() * 200); // the work
    const reply = { content: `Reply to ${event.data.content}`, metadata: { token } };
    const { status } = await post(`/leases/${id}/acknowledge`, { reply }, id);
    log({ kind: 'acknowledged', token, status });
  }
}
