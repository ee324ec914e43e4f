import { Argument, Command } from 'commander';
import { createCompletionScript, type CompletionWord, shells } from '../completion-scripts.ts';
import type { CommandIo } from '../io.ts';

function listWords(program: Command): CompletionWord[] {
  return program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: command.options.flatMap(({ long }) => long ?? []),
    children: command.commands.map((child) => child.name()),
  }));
}

/** `completion SHELL`, for `am` and for other programs. */
export function completionCommand({ print }: Pick<CommandIo, 'print'>, program: Command): Command {
  const name = program.name();
  return new Command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .addHelpText(
      'after',
      `\nExamples:\n  $ ${name} completion bash > ~/.local/share/bash-completion/completions/${name}\n  $ ${name} completion zsh > ~/.zfunc/_${name}\n  $ ${name} completion fish > ~/.config/fish/completions/${name}.fish`,
    )
    .action((shell: (typeof shells)[number]) =>
      print(createCompletionScript(shell, name, listWords(program))),
    );
}
