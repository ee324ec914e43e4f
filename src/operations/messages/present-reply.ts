import { presentTask } from '../../../packages/core/src/records/task.ts';
import { presentToolMessage } from '../../../packages/core/src/records/tool-message.ts';
import type { FoundReply } from '../../services/messages/reply.ts';

/** Returns what a wait for a reply has found so far. */
export function presentReply({ reply, task }: FoundReply) {
  return {
    reply: reply && presentToolMessage(reply, reply.relationship),
    task: task && presentTask(task),
  };
}
