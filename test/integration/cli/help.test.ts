import { spawnSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { examples } from '../../../src/cli/examples.ts';
import { commands } from '../../../src/cli/program.ts';
import { createProgram } from '../../../src/cli/run-commands.ts';
import { runCli } from '../../clients/cli.ts';

/** The program, whose commands parse their arguments and do nothing. */
function createIdleProgram(): Command {
  const program = createProgram(commands, {
    env: {},
    input: new PassThrough(),
    output: new PassThrough(),
    print: () => undefined,
    log: () => undefined,
    isTerminal: false,
    interruptSignal: () => AbortSignal.timeout(0),
  });
  const idle = (command: Command) => {
    if (command.commands.length === 0) command.action(() => undefined);
    command.commands.forEach(idle);
  };
  idle(program);
  return program;
}

/** The paths of the commands that do something. */
function listPaths(command: Command, path: string[] = []): string[] {
  if (command.commands.length === 0) return [path.join(' ')];
  return command.commands.flatMap((child) => listPaths(child, [...path, child.name()]));
}

test('the help of every command has examples that it accepts', async () => {
  // These are described elsewhere: the bridge by the client, the other two in their own texts.
  const others = new Set(['start', 'mcp-stdio', 'completion']);
  const paths = listPaths(createIdleProgram()).filter((path) => !others.has(path));
  expect(paths.toSorted()).toEqual(Object.keys(examples).toSorted());
  for (const path of paths) {
    const { code, out } = await runCli({}, [...path.split(' '), '--help']);
    expect([path, code]).toEqual([path, 0]);
    for (const example of examples[path] ?? []) {
      expect(out).toContain(`$ ams ${example}\n`);
      expect(example.startsWith(path), example).toBe(true);
      const [typed = ''] = example.split(' < ');
      const args = Array.from(
        typed.matchAll(/"([^"]*)"|(\S+)/g),
        ([, quoted, plain]) => quoted ?? plain ?? '',
      );
      await expect(createIdleProgram().parseAsync(args, { from: 'user' }), example).resolves.toBeDefined();
    }
  }
  for (const name of ['start', 'completion']) {
    expect((await runCli({}, [name, '--help'])).out).toContain(`$ ams ${name}`);
  }
});

test('completion scripts name every command', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out } = await runCli({}, ['completion', shell]);
    expect([code, out]).toEqual([0, expect.stringContaining('ams')]);
    for (const name of ['thread', 'doctor', 'mark-restored']) expect(out, shell).toContain(name);
  }
  const { out } = await runCli({}, ['completion', 'bash']);
  const complete = `${out}\nCOMP_WORDS=(ams thread s); COMP_CWORD=2; _ams; echo "\${COMPREPLY[*]}"`;
  expect(spawnSync('bash', ['-c', complete], { encoding: 'utf8' }).stdout).toBe('show\n');
});
