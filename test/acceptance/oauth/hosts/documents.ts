import { editors } from './editors.ts';
import type { HostDocument } from './host-document.ts';
import { hosted, others, selfHosted } from './hosted.ts';
import { terminals } from './terminals.ts';

/** All of them sign in, list the tools, refresh, and list the tools again. */
export const hostDocuments: readonly HostDocument[] = [
  ...terminals,
  ...editors,
  ...hosted,
  ...selfHosted,
  ...others,
];
