import { maxAttachmentBytes } from '../../../../core/src/domain/attachments/attachments.ts';
import { servedType } from '../../../../core/src/domain/attachments/file-types.ts';
import type { Exchange } from './exchange.ts';
import { DomainError } from '../../../../core/src/domain/errors.ts';
import type { State } from '../core/state.ts';
import { uploadsOf } from '../operations/attachments.ts';

const maxUploadBytes = maxAttachmentBytes + 1024 * 1024;

/** Answers the signed addresses of files, which need no token; false for any other path. */
export async function answerBlob(state: State, exchange: Exchange): Promise<boolean> {
  const { method, path } = exchange;
  const [, id] = /^\/blobs\/(att_\w+)$/.exec(path) ?? [];
  if (id === undefined) return false;
  if (method === 'PUT') await receive(state, exchange, id);
  else if (method === 'GET') download(state, exchange, id);
  else throw new DomainError('METHOD_NOT_ALLOWED', `${path} supports GET, PUT.`);
  return true;
}

async function receive(state: State, exchange: Exchange, id: string): Promise<void> {
  const upload = uploadsOf(state).get(id);
  const bytes = await exchange.readBody(maxUploadBytes);
  if (!upload) throw expired();
  upload.bytes = bytes;
  exchange.send(200);
}

function download(state: State, exchange: Exchange, id: string): void {
  const file = state.attachments.get(id);
  const expiresAt = Number(exchange.query.get('expires'));
  if (file?.record.scan_status !== 'clean' || expiresAt <= state.clock.now()) throw expired();
  const name = encodeURIComponent(file.record.filename);
  exchange.setHeader('Content-Type', servedType(file.record.content_type));
  exchange.setHeader('Content-Disposition', `attachment; filename*=UTF-8''${name}`);
  exchange.setHeader('X-Content-Type-Options', 'nosniff');
  exchange.send(200, file.bytes);
}

const expired = (): DomainError =>
  new DomainError('NOT_FOUND', 'This link is invalid or has expired. Request the file again.');
