import { addMemberOperation } from './add-member.ts';
import { createThreadOperation } from './create-thread.ts';
import type { Operation } from './define.ts';
import { getMeOperation } from './get-me.ts';
import { getThreadOperation } from './get-thread.ts';
import { listMessagesOperation } from './list-messages.ts';
import { listThreadsOperation } from './list-threads.ts';
import { markReadOperation } from './mark-read.ts';
import { readThreadOperation } from './read-thread.ts';
import { removeMemberOperation } from './remove-member.ts';
import { sendMessageOperation } from './send-message.ts';
import { updateThreadOperation } from './update-thread.ts';

/** Everything an agent can do. REST routes, MCP tools and resources, and the OpenAPI document are loops over this list. */
export const catalogue: readonly Operation[] = [
  getMeOperation,
  createThreadOperation,
  listThreadsOperation,
  getThreadOperation,
  readThreadOperation,
  updateThreadOperation,
  addMemberOperation,
  removeMemberOperation,
  markReadOperation,
  sendMessageOperation,
  listMessagesOperation,
];
