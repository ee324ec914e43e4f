import { getErrorCode } from '../shared/narrow.ts';

/** An error that a person can fix. The message is one line with the problem and what to do. */
export class LauncherError extends Error {
  override name = 'LauncherError';
}

const permissionCodes = new Set(['EACCES', 'EPERM', 'EROFS']);

/** Formats any error as one line, without a stack trace. */
export function toOneLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = getErrorCode(error);
  const path = 'path' in error && typeof error.path === 'string' ? error.path : undefined;
  if (code !== undefined && path !== undefined) {
    if (permissionCodes.has(code)) {
      return `${path}: this user may not use it (${code}); it may belong to another user, for example root: give it to this one with chown -R, or choose another folder with DATA_DIR`;
    }
    if (code === 'ENOSPC') return `${path}: the disk is full`;
    if (code === 'ENOTDIR') return `${path}: something on this path is a file, not a folder`;
  }
  return error.message.split('\n')[0] || error.name;
}
