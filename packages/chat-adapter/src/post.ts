import type { Client, Message as ServiceMessage } from '@agent-messaging/client';
import { extractFiles, extractPostableAttachments, ValidationError } from '@chat-adapter/shared';
import type { AdapterPostableMessage, RawMessage, StreamChunk } from 'chat';
import { translateErrors } from './errors.ts';
import { markdown } from './format.ts';
import { adapterName, decodeThreadId } from './thread-ids.ts';

/** Creates the function that sends a message in a thread, with its files. A card is sent as Markdown. */
export function createPost(client: Client) {
  return async function post(
    threadId: string,
    message: AdapterPostableMessage,
    reply_to?: string,
  ): Promise<RawMessage<ServiceMessage>> {
    const { thread_id } = decodeThreadId(threadId);
    const isText = typeof message === 'string' || 'raw' in message;
    const content = markdown.renderPostable(message);
    const files = await readFiles(message);
    return translateErrors(async () => {
      const uploads = await Promise.all(
        files.map(({ data, filename, mimeType }) =>
          client.attachments.upload(data, {
            filename,
            ...(mimeType !== undefined && { contentType: mimeType }),
          }),
        ),
      );
      const raw = await client.messages.send({
        thread_id,
        content,
        content_type: isText ? 'text' : 'markdown',
        attachment_ids: uploads.map(({ id }) => id),
        ...(reply_to !== undefined && { reply_to }),
      });
      return { id: raw.id, threadId, raw };
    });
  };
}

/** The files of a message, as new ones and as attachments of another one. */
async function readFiles(message: AdapterPostableMessage): Promise<File[]> {
  const files = extractFiles(message).map(({ data, filename, mimeType }) => toFile(data, filename, mimeType));
  for (const { data, fetchData, name = 'file', mimeType } of extractPostableAttachments(message)) {
    const content = data ?? (await fetchData?.());
    if (content === undefined)
      throw new ValidationError(adapterName, 'An attachment has neither data nor fetchData.');
    files.push(toFile(content, name, mimeType));
  }
  return files;
}

interface File {
  data: Blob;
  filename: string;
  mimeType: string | undefined;
}

function toFile(content: Blob | ArrayBuffer | Buffer, filename: string, mimeType: string | undefined): File {
  const data =
    content instanceof Blob
      ? content
      : new Blob([content instanceof ArrayBuffer ? content : new Uint8Array(content)]);
  return { data, filename, mimeType };
}

/** Reads a stream to its end: a message cannot be changed after it was sent. */
export async function readStream(stream: AsyncIterable<string | StreamChunk>): Promise<{ markdown: string }> {
  let text = '';
  for await (const chunk of stream) {
    if (typeof chunk === 'string') text += chunk;
    else if (chunk.type === 'markdown_text') text += chunk.text;
  }
  return { markdown: text };
}
