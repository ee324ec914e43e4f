import type { z } from 'zod';
import { messageSchema } from '../../packages/core/src/records/message.ts';
import { shortMessage } from '../../packages/core/src/records/short-form.ts';
import { threadSchema } from '../../packages/core/src/records/thread.ts';

/** The data of an event in short form: what a model needs to know before it reads the message or the thread. */
export function shortEventData(type: string, data: object): Record<string, unknown> {
  const message = type === 'message.created' ? messageSchema.safeParse(data).data : undefined;
  if (message) return shortMessage(message);
  const thread = type === 'thread.created' ? threadSchema.safeParse(data).data : undefined;
  return thread ? shortThread(thread) : { ...data };
}

function shortThread({ id, subject, status, created_by, members }: z.infer<typeof threadSchema>) {
  return {
    id,
    subject,
    status,
    created_by,
    members: members.map(({ canonical_handle }) => ({ canonical_handle })),
  };
}
