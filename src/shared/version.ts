import { createRequire } from 'node:module';

const about = createRequire(import.meta.url)('#package.json') as { version: string };

/** The version of this release. Its only source is package.json. */
export const { version } = about;
