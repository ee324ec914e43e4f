// The view of the inbox, with the approvals in it.
import { Inbox } from '../src/transports/console/views/inbox.tsx';
import { start } from './view.js';

await start({ Inbox });
