import type { SystemWork, WorkSettings } from '../../work/unit-of-work.ts';

const purpose = 'a2a callback';

/** Returns the address to which the remote side sends the updates of the task that a message opens. It names only that message. */
export function toCallbackUrl(
  { publicUrl, sealedBox }: Pick<WorkSettings, 'publicUrl' | 'sealedBox'>,
  { thread_id, message_id }: { thread_id: string; message_id: string },
): string {
  const sealed = sealedBox.seal(`${thread_id} ${message_id}`, purpose);
  return `${publicUrl}/a2a/-/updates/${sealed.toString('base64url')}`;
}

/**
 * Has the task of a callback address read at once. A callback only says that something has changed: its content is not used, so that a
 * forged one changes nothing.
 * @returns the thread to look at; undefined if the address is none of this service, or its task has ended.
 */
export async function noteCallback(
  { db, settings, now }: SystemWork,
  sealed: string,
): Promise<string | undefined> {
  let text: string;
  try {
    text = settings.sealedBox.open(Buffer.from(sealed, 'base64url'), purpose);
  } catch {
    return undefined; // not sealed by this service
  }
  const [thread_id = '', message_id = ''] = text.split(' ');
  if ((await db.remoteThreads.lock(thread_id)) === undefined) return undefined;
  await db.remoteThreads.setTaskDue(thread_id, message_id, now);
  return thread_id;
}
