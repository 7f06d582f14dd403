#!/usr/bin/env perl
# Prints C++ files as `path:line:code`, with comments and the insides of string and character literals left out, so that
# a check may search for words without stumbling over prose. An #include line keeps its path. A line whose comment holds
# the marker given as first argument (`--allow=MARKER`) is left out altogether.
#
#   code_only.pl [--allow=MARKER] FILE...
use strict;
use warnings;

my $allow;
if (@ARGV && $ARGV[0] =~ /^--allow=(.+)/) { $allow = $1; shift @ARGV; }

for my $path (@ARGV) {
  open(my $file, '<', $path) or die "$path: $!\n";
  my @original = <$file>;
  close($file);
  my $text = join('', @original);
  # Each match is a comment, a literal or an include line; what is replaced keeps its line ends.
  $text =~ s{
      (?<include> ^[ \t]*\#[ \t]*include[^\n]*)
    | (?<comment> //[^\n]* | /\*.*?\*/)
    | (?<raw> \bR"(?<mark>[^()\s]*)\(.*?\)\k<mark>")
    | (?<separator> (?<=[0-9a-fA-F])'(?=[0-9a-fA-F]))
    | (?<literal> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
  }{
    my $whole = $&;
    if (defined $+{include}) { $whole =~ s{\s*//.*}{}; $whole }
    elsif (defined $+{separator}) { '' }
    else {
      my $line_ends = "\n" x ($whole =~ tr/\n//);
      defined $+{comment} ? " $line_ends" : '""' . $line_ends;
    }
  }gemsx;
  my $number = 0;
  for my $code (split(/\n/, $text, -1)) {
    my $source = $original[$number++] // '';
    next if $code =~ /^\s*$/;
    next if defined $allow && index($source, $allow) >= 0;
    print "$path:$number:$code\n";
  }
}
