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
      return `${path}: no permission (${code}). Another user, for example root, may own it: change the owner with chown -R, or choose another folder with DATA_DIR`;
    }
    if (code === 'ENOSPC') return `${path}: the disk is full`;
    if (code === 'ENOTDIR' || code === 'EEXIST')
      return `${path}: a part of this path is a file; choose another folder with DATA_DIR`;
  }
  return error.message.split('\n')[0] || error.name;
}
