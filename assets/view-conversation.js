// The views of conversations and approvals: a call that waits for a review shows the approval.
import { Conversation } from '../src/transports/console/views/conversation.tsx';
import { start } from './view.js';

await start({ Conversation });
