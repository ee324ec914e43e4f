// Prints the messages that an agent receives.
import { createClient } from '@agent-messaging/client/node';

const client = createClient(); // AMS_URL and AMS_TOKEN
for await (const event of client.events()) {
  if (event.type === 'message.created') console.log(event.data.sender.canonical_handle, event.data.content);
  if (event.type === 'gap') event.accept();
}
