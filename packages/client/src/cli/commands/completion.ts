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

/** `am completion SHELL` */
export function completionCommand({ print }: CommandIo, program: Command): Command {
  return new Command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .addHelpText(
      'after',
      '\nExamples:\n  $ am completion bash > ~/.local/share/bash-completion/completions/am\n  $ am completion zsh > ~/.zfunc/_am\n  $ am completion fish > ~/.config/fish/completions/am.fish',
    )
    .action((shell: (typeof shells)[number]) => print(createCompletionScript(shell, listWords(program))));
}
