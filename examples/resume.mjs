// A loop that does work for each message, and continues where it was after kill -9. The work and the position are two files, so
// the last message can come twice after a crash: work that is done already is recognized by the id of its event.
import { appendFile, readFile } from 'node:fs/promises';
import { createClient, fileCursor } from '@agent-messaging/client/node';

const lines = (await readFile('work.log', 'utf8').catch(() => '')).split('\n');
const done = new Set(lines.map((line) => line.split(' ')[0]));

const client = createClient(); // AMS_URL and AMS_TOKEN
for await (const event of client.events({ cursor: fileCursor('work.cursor') })) {
  // Older events are no longer stored. Read what the work needs, for example with client.threads.list().
  if (event.type === 'gap') event.accept();
  if (event.type !== 'message.created' || done.has(event.id)) continue;
  await appendFile('work.log', `${event.id} ${event.data.content}\n`);
  done.add(event.id);
}
