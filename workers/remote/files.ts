import { createHash } from 'node:crypto';
import { mailboxExtension } from '../../packages/core/src/domain/a2a.ts';
import type { Core } from '../../src/compose.ts';
import type { WirePart } from '../../src/presenters/a2a/request.ts';
import type { RemoteItem } from '../../packages/core/src/domain/remote.ts';
import { toFileAddress } from '../../src/services/a2a/files.ts';

/** More bytes of one message are sent as addresses. */
const maxRawBytes = 4 * 1024 * 1024;

/** Longer than a message is attempted, and 30 days. */
const addressLifetimeMs = 34 * 24 * 60 * 60 * 1000;

interface SentFile {
  id: string;
  filename: string;
  content_type: string;
  size_bytes: number;
}

/** Names a file in each form that its part can have. Another installation compares the attempts of a message by it. */
const nameOf = (id: string) => ({
  metadata: { [mailboxExtension]: { file: createHash('sha256').update(id).digest('base64url') } },
});

/** Returns the parts for the files of a message: their bytes, if they are few and scanned, else their addresses. */
export async function toFileParts(core: Core, files: readonly SentFile[]): Promise<WirePart[]> {
  const { settings, blobs, db } = core;
  const total = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  const parts: WirePart[] = [];
  for (const { id, filename, content_type: mediaType } of files) {
    const found = await db.attachments.find(id);
    if (found?.scan_status === 'infected') {
      parts.push({ text: `The file ${filename} was found unsafe and was removed.`, ...nameOf(id) });
    } else if (found?.scan_status === 'clean' && total <= maxRawBytes) {
      const chunks: Buffer[] = [];
      for await (const chunk of await blobs.read(found.storage_key)) chunks.push(chunk as Buffer);
      parts.push({ raw: Buffer.concat(chunks).toString('base64'), filename, mediaType, ...nameOf(id) });
    } else {
      const url = toFileAddress({ settings, now: Date.now() }, id, addressLifetimeMs);
      parts.push({ url, filename, mediaType, ...nameOf(id) });
    }
  }
  return parts;
}

/** A file of a remote agent, as the intake opens it. */
export const toIncoming = ({ filename, content_type, bytes }: RemoteItem['files'][number]) => ({
  open: async () => ({
    filename,
    content_type,
    bytes: (async function* () {
      yield bytes;
    })(),
  }),
});
