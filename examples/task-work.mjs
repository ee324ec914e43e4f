// Works on the tasks that others give this agent: says working, asks back once, and completes. Killed and started again, it
// continues with the tasks that are open.
import { createClient } from '@agent-messaging/client/node';

const client = createClient(); // AMS_URL and AMS_TOKEN
for await (const task of client.tasks.work()) {
  const answers = task.messages.filter(({ sender }) => sender.id === task.client.id).slice(1);
  if (answers.length === 0) {
    await task.working('I look into it.');
    await task.askBack('Which order is it about?');
  } else {
    await task.complete(`Order ${answers.at(-1).content} is on its way.`, { order: answers.at(-1).content });
  }
}
