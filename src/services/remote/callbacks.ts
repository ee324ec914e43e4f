import type { SystemWork, WorkSettings } from '../../work/unit-of-work.ts';

const purpose = 'a2a callback';

/** Returns the address to which the remote side sends the updates of the task that a message opens. It names only that message. */
export function toCallbackUrl(
  { publicUrl, sealedBox }: Pick<WorkSettings, 'publicUrl' | 'sealedBox'>,
  { thread_id, message_id }: Callback,
): string {
  const sealed = sealedBox.seal(`${thread_id} ${message_id}`, purpose);
  return `${publicUrl}/a2a/-/updates/${sealed.toString('base64url')}`;
}

/** The message whose task has changed. */
export interface Callback {
  thread_id: string;
  message_id: string;
}

/** Returns the message of a callback address; undefined if the address is none of this service. @param sealed the last segment of the address. */
export function readCallback(
  { sealedBox }: Pick<WorkSettings, 'sealedBox'>,
  sealed: string,
): Callback | undefined {
  try {
    const text = sealedBox.open(Buffer.from(sealed, 'base64url'), purpose);
    const [thread_id = '', message_id = ''] = text.split(' ');
    return { thread_id, message_id };
  } catch {
    return undefined; // not sealed by this service
  }
}

/**
 * Has the task of a message read at once. A callback only says that something has changed: its content is not used, so that a forged one
 * changes nothing.
 */
export async function noteCallback(
  { db, now }: SystemWork,
  { thread_id, message_id }: Callback,
): Promise<void> {
  if ((await db.remoteThreads.lock(thread_id)) !== undefined)
    await db.remoteThreads.setTaskDue(thread_id, message_id, now);
}
