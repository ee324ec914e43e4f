import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { findFreePort } from '../../support/free-port.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { bundledProgram } from '../../support/vitest/bundled-program.ts';
import { type CodeBlock, readCodeBlocks, root } from './code-blocks.ts';

/**
 * A reader's terminal, with two differences: a refused HTTP call ends the script, and `ams` runs the bundle of the build, which
 * starts in a third of the time.
 */
const prelude = (ams: string): string => `
set -e -o pipefail; shopt -s inherit_errexit
trap 'trap - EXIT; kill $(jobs -p) 2> /dev/null || true' EXIT
npm() { shift 4; node '${ams}' "$@"; }
curl() {
  case " $* " in
    *' -sf'*) command curl "$@" ;;
    *) command curl --fail-with-body "$@" ;;
  esac
}
`;

/** A block that starts a program in the background is followed by a pause, which ends with `resume()`. */
function toScript({ page, line, language, text }: CodeBlock): string {
  const start = `echo '@@ ${page}:${line}'\n`;
  if (language === 'sh') return `${start}${text}\n${text.endsWith('&') ? 'read -r _\n' : ''}`;
  if (language === 'js') return `${start}node --input-type=module <<'END_OF_BLOCK'\n${text}\nEND_OF_BLOCK\n`;
  return `${start}if command -v python3 > /dev/null; then python3 - <<'END_OF_BLOCK'\n${text}\nEND_OF_BLOCK\nfi\n`;
}

export const runnableLanguages: readonly string[] = ['sh', 'js', 'python'];

/**
 * Runs the code blocks of the pages in order in one shell, against a service of their own. The shell stays open until
 * the test is over, so that programs in the background can finish.
 */
export async function runPages(pages: readonly string[], settings: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'ams-docs-'));
  const service = await startServiceOnFixedPort({ ...settings, DATA_DIR: join(folder, '.data') });
  const { DATABASE_URL, SECRET_KEY, DATA_DIR, PORT } = service.core.config;
  for (const name of ['node_modules', 'LICENSE']) await symlink(join(root, name), join(folder, name));

  const blocks = pages.flatMap(readCodeBlocks).filter(({ language }) => runnableLanguages.includes(language));
  const toRun = blocks.filter(({ notRunReason }) => notRunReason === undefined);
  const script = [
    prelude(bundledProgram('ams').entry),
    ...toRun.map(toScript),
    'echo "@@ end"; read -r _ || true',
  ].join('\n');
  const file = join(folder, 'script.sh');
  const receiverPort = String(await findFreePort());
  await writeFile(
    file,
    script.replaceAll('localhost:3000', new URL(service.url).host).replaceAll('4010', receiverPort),
  );

  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    DATABASE_URL,
    SECRET_KEY,
    DATA_DIR,
    PORT: String(PORT),
    // The doctor fetches such a document, and this machine may have no way to its address.
    CLIENT_ID_METADATA_DOCUMENTS: 'false',
  };
  const shell = spawn('bash', [file], {
    cwd: folder,
    env: { ...env, PUBLIC_URL: service.url, LOG_LEVEL: 'error' },
  });
  const closed = once(shell, 'close');
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  onTestFinished(async () => {
    shell.stdin.end();
    await closed;
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const failed = closed.then(() => {
    throw new Error(`a block failed:\n${output.slice(-4_000)}`);
  });
  failed.catch(() => undefined); // the shell also closes at the end
  return {
    service,
    /** The output of the blocks, once it contains the texts. @throws {Error} if a block failed. */
    async waitForOutput(...texts: string[]): Promise<string> {
      const hasAll = () => expect(texts.filter((text) => !output.includes(text))).toEqual([]);
      await Promise.race([failed, vi.waitFor(hasAll, { timeout: 150_000, interval: 50 })]);
      return output;
    },
    resume: () => shell.stdin.write('\n'),
  };
}
