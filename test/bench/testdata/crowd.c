// crowd NAMESPACES PROCESSES THREADS: idle processes spread over mount
// namespaces, each with so many threads. It says "ready" and ends, with all of
// them, when its standard input does.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void *idle(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void child(int threads, int ready)
{
	pthread_attr_t small;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (int i = 1; i < threads; i++)
		if (pthread_create(&thread, &small, idle, NULL))
			_exit(1);
	if (write(ready, "x", 1) != 1)
		_exit(1);
	idle(NULL);
}

int main(int argc, char **argv)
{
	int namespaces, processes, threads, pipes[2];
	char c;

	if (argc != 4)
		return 2;
	namespaces = atoi(argv[1]);
	processes = atoi(argv[2]);
	threads = atoi(argv[3]);
	if (namespaces < 1 || pipe(pipes))
		return 1;
	// Our starter is measured and leaves its own children out: be an orphan.
	if (fork() > 0)
		return 0;
	// Each round makes one more namespace and leaves its share of processes in it.
	for (int n = 0; n < namespaces; n++) {
		if (unshare(CLONE_NEWNS))
			return 1;
		int share = processes / namespaces + (n < processes % namespaces);
		for (int i = 0; i < share; i++) {
			pid_t pid = fork();
			if (pid < 0)
				return 1;
			if (pid == 0)
				child(threads, pipes[1]);
			if (read(pipes[0], &c, 1) != 1)
				return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	kill(0, SIGKILL);
	return 0;
}
