// Answers every message once, also when it is killed and started again: it resumes at its position, and an answer under the
// key of its event is sent once.
import { createClient, fileCursor } from '@agent-messaging/client/node';

const client = createClient(); // AMS_URL and AMS_TOKEN
const me = await client.agents.getMe();
for await (const event of client.events({ cursor: fileCursor('answer.cursor') })) {
  if (event.type === 'gap') event.accept();
  if (event.type !== 'message.created' || event.data.sender.id === me.id) continue;
  const { thread_id, content } = event.data;
  await client.messages.send({ thread_id, content: `You wrote: ${content}` }, { idempotencyKey: event.id });
}
