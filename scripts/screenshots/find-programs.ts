import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

export type ProgramLookup = { path: string } | { missing: string };

const browsers = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** The path of a supported browser, or the reason why there is none. */
export const findBrowser = (): Promise<ProgramLookup> => findProgram(browsers, 'chromium');

/** The path of `pngquant`, which reduces screenshots to a third of their size. */
export const findPngquant = (): Promise<ProgramLookup> => findProgram(['pngquant'], 'pngquant');

async function findProgram(names: readonly string[], debian: string): Promise<ProgramLookup> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const name of names) {
      const path = join(folder, name);
      if (folder && (await isExecutable(path))) return { path };
    }
  }
  const which = names.length === 1 ? `no ${debian}` : `none of ${names.join(', ')}`;
  return { missing: `${which} is on PATH (Debian: apt-get install ${debian})` };
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
