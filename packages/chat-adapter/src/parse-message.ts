import type {
  Attachment as ServiceAttachment,
  Client,
  Message as ServiceMessage,
} from '@agent-messaging/client';
import { type Attachment, Message, paragraph, root, text as textNode } from 'chat';
import { translateErrors } from './errors.ts';
import { markdown } from './format.ts';
import { encodeThreadId } from './thread-ids.ts';

/** Creates the function that turns a message of the service into one of the SDK. `getOwnId` returns the id of the bot. */
export function createParser(client: Client, getOwnId: () => string | undefined) {
  return function parseMessage(raw: ServiceMessage): Message<ServiceMessage> {
    const { id, canonical_handle: handle } = raw.sender;
    const isMarkdown = raw.content_type === 'markdown';
    return new Message({
      id: raw.id,
      threadId: encodeThreadId(raw),
      text: isMarkdown ? markdown.extractPlainText(raw.content) : raw.content,
      formatted: isMarkdown ? markdown.toAst(raw.content) : root([paragraph([textNode(raw.content)])]),
      raw,
      author: {
        userId: id,
        userName: handle,
        fullName: handle,
        isBot: raw.written_by === 'agent',
        isMe: id === getOwnId(),
      },
      metadata: { dateSent: new Date(raw.created_at), edited: false },
      attachments: raw.attachments.map((attachment) => parseAttachment(client, attachment)),
    });
  };
}

function parseAttachment(client: Client, attachment: ServiceAttachment): Attachment {
  const [group] = attachment.content_type.split('/');
  return restoreDownload(client, {
    type: group === 'image' || group === 'video' || group === 'audio' ? group : 'file',
    name: attachment.filename,
    mimeType: attachment.content_type,
    size: attachment.size_bytes,
    fetchMetadata: { attachment_id: attachment.id },
  });
}

/** Adds the download to an attachment that the SDK has stored without it. */
export function restoreDownload(client: Client, attachment: Attachment): Attachment {
  const attachment_id = attachment.fetchMetadata?.['attachment_id'];
  if (attachment_id === undefined) return attachment;
  return {
    ...attachment,
    fetchData: () =>
      translateErrors(async () => {
        const { body } = await client.attachments.download({ attachment_id });
        return new Response(body).arrayBuffer();
      }),
  };
}
