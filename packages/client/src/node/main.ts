// What programs on Node import: @agent-messaging/client/node, which has everything of @agent-messaging/client.
export * from '../main.ts';
export { createClient } from './client.ts';
export { fileCursor } from './file-cursor.ts';
export { readSignIn, removeSignIn, signInPath, storedSignIn, writeSignIn } from './stored-sign-in.ts';
export type { StoredSignIn, StoredSignInOptions } from './stored-sign-in.ts';
